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
