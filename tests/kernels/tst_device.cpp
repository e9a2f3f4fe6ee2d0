// SPDX-License-Identifier: MIT
#include "kernels/common/device.h"
#include "tests/support/test_paths.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

using namespace firesteel;

TEST_CASE("a machine without a usable GPU is told why in a sentence")
{
    const kernels::DeviceSearch search = kernels::findDevice();
    if (search.device) {
        CHECK(search.device->multiprocessors > 0);
        CHECK(search.reason.empty());
    } else {
        CHECK(search.reason.ends_with("on the CPU."));
        CHECK_THROWS_AS(kernels::openCudaQueue(), kernels::DeviceError);
    }
}

TEST_CASE("device memory holds what was copied to it, and too much of it is refused")
{
    if (const kernels::DeviceSearch search = kernels::findDevice(); !search.device)
        return test::reportSkip(search.reason);
    const auto queue = kernels::openCudaQueue();
    std::vector<std::uint32_t> values(12345);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::uint32_t>(i * i);
    kernels::DeviceMemory memory
        = kernels::toDevice(std::span<const std::uint32_t>(values), *queue);
    const kernels::DeviceMemory moved = std::move(memory);
    std::vector<std::uint32_t> back(values.size());
    kernels::copyToHost(back.data(), moved.data(), moved.bytes(), *queue);
    CHECK(back == values);
    CHECK_THROWS_AS(kernels::DeviceMemory(std::size_t { 1 } << 50), kernels::DeviceError);
}

TEST_CASE("a recorded graph runs when it is launched, not before, and its time is measured")
{
    if (const kernels::DeviceSearch search = kernels::findDevice(); !search.device)
        return test::reportSkip(search.reason);
    const auto queue = kernels::openCudaQueue();
    const std::vector<std::uint8_t> zeros(1 << 20);
    const kernels::DeviceMemory memory
        = kernels::toDevice(std::span<const std::uint8_t>(zeros), *queue);
    const kernels::DeviceGraph graph(
        *queue, [&] { kernels::fillDevice(memory.data(), 7, memory.bytes(), *queue); });
    std::vector<std::uint8_t> back(zeros.size());
    kernels::copyToHost(back.data(), memory.data(), memory.bytes(), *queue);
    CHECK(back == zeros);
    kernels::DeviceTimer timer;
    timer.start(*queue);
    graph.launch(*queue);
    CHECK(timer.stop(*queue) > 0);
    kernels::copyToHost(back.data(), memory.data(), memory.bytes(), *queue);
    CHECK(back == std::vector<std::uint8_t>(zeros.size(), 7));
}
