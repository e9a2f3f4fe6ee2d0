// SPDX-License-Identifier: MIT
#include "tests/support/placed.h"

#include "tests/support/test_paths.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace firesteel::test {

namespace {

constexpr std::size_t kGuard = 4096;
constexpr std::size_t kAlignment = 256;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoison = 0xFF;

bool isOnDevice(const kernels::Stream &stream)
{
    return stream.backend() == kernels::Backend::Cuda;
}

kernels::Stream *findGpuStream()
{
    static const std::unique_ptr<kernels::Stream> stream = kernels::findDevice().device
        ? std::make_unique<kernels::Stream>(1, kernels::openCudaQueue())
        : nullptr;
    return stream.get();
}

} // namespace

std::vector<kernels::Stream *> testStreams()
{
    static kernels::Stream cpu(2);
    std::vector<kernels::Stream *> streams { &cpu };
    if (kernels::Stream *gpu = findGpuStream())
        streams.push_back(gpu);
    return streams;
}

kernels::Stream *gpuStream()
{
    if (kernels::Stream *gpu = findGpuStream())
        return gpu;
    reportSkip(kernels::findDevice().reason);
    return nullptr;
}

PlacedBytes::PlacedBytes(std::size_t bytes, kernels::Stream &stream)
    : m_stream(&stream)
    , m_bytes(bytes)
{
    const std::size_t whole = bytes + 2 * kGuard;
    if (isOnDevice(stream)) {
        m_device = kernels::DeviceMemory(whole);
        m_data = m_device.data() + kGuard;
        kernels::fillDevice(m_device.data(), kGuardByte, whole, stream.cuda());
        if (bytes > 0)
            kernels::fillDevice(m_data, kPoison, bytes, stream.cuda());
        return;
    }
    m_host.assign(whole + kAlignment, std::byte { kGuardByte });
    const auto misalignment = reinterpret_cast<std::uintptr_t>(m_host.data()) % kAlignment;
    m_data = m_host.data() + kGuard + (kAlignment - misalignment) % kAlignment;
    std::fill_n(m_data, bytes, std::byte { kPoison });
}

void PlacedBytes::write(std::span<const std::byte> bytes)
{
    if (bytes.empty())
        return;
    if (isOnDevice(*m_stream))
        kernels::copyToDevice(m_data, bytes.data(), bytes.size(), m_stream->cuda());
    else
        std::ranges::copy(bytes, m_data);
}

std::vector<std::byte> PlacedBytes::readAround(std::ptrdiff_t offset, std::size_t bytes) const
{
    std::vector<std::byte> values(bytes);
    if (bytes == 0)
        return values;
    if (isOnDevice(*m_stream)) {
        kernels::synchronize(m_stream->cuda());
        kernels::copyToHost(values.data(), m_data + offset, bytes, m_stream->cuda());
    } else {
        std::copy_n(m_data + offset, bytes, values.begin());
    }
    return values;
}

std::vector<std::byte> PlacedBytes::read() const { return readAround(0, m_bytes); }

bool PlacedBytes::isGuardIntact() const
{
    const auto isGuard = [](std::byte value) { return value == std::byte { kGuardByte }; };
    return std::ranges::all_of(readAround(-static_cast<std::ptrdiff_t>(kGuard), kGuard), isGuard)
        && std::ranges::all_of(readAround(static_cast<std::ptrdiff_t>(m_bytes), kGuard), isGuard);
}

} // namespace firesteel::test
