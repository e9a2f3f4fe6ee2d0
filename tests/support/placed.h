// SPDX-License-Identifier: MIT
//
// Values where a stream's kernels run, host or device memory, between guards: a kernel test
// written once for both backends.
//
//     for (kernels::Stream *stream : test::testStreams()) {
//         const Placed<float> x(values, *stream);
//         Placed<float> y(count, *stream);      // poisoned: every byte 0xFF, so floats are NaN
//         launch(y.span(), x.span(), ..., *stream);
//         const std::vector<float> result = y.read();   // waits for the stream
//         CHECK(y.isGuardIntact());
//     }
#pragma once

#include "kernels/common/device.h"
#include "kernels/common/stream.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace firesteel::test {

// The CPU's stream (two threads), and the GPU's where there is one. Alive until the process ends.
std::vector<kernels::Stream *> testStreams();

// The GPU's stream; null after reporting a skip where there is none.
kernels::Stream *gpuStream();

// 256-byte aligned, with 4 KiB of a known pattern before and behind.
class PlacedBytes
{
public:
    PlacedBytes(std::size_t bytes, kernels::Stream &stream); // poisoned
    std::byte *data() const { return m_data; }
    void write(std::span<const std::byte> bytes);
    std::vector<std::byte> read() const; // waits for the stream
    bool isGuardIntact() const; // waits for the stream

private:
    std::vector<std::byte> readAround(std::ptrdiff_t offset, std::size_t bytes) const;

    kernels::Stream *m_stream;
    std::size_t m_bytes;
    std::vector<std::byte> m_host;
    kernels::DeviceMemory m_device;
    std::byte *m_data = nullptr;
};

template <typename T> class Placed
{
public:
    Placed(std::size_t count, kernels::Stream &stream)
        : m_count(count)
        , m_bytes(count * sizeof(T), stream)
    {
    }
    Placed(const std::vector<T> &values, kernels::Stream &stream)
        : Placed(values.size(), stream)
    {
        m_bytes.write(std::as_bytes(std::span(values)));
    }

    std::span<T> span() const { return { reinterpret_cast<T *>(m_bytes.data()), m_count }; }
    std::vector<T> read() const
    {
        std::vector<T> values(m_count);
        const std::vector<std::byte> bytes = m_bytes.read();
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    bool isGuardIntact() const { return m_bytes.isGuardIntact(); }

private:
    std::size_t m_count;
    PlacedBytes m_bytes;
};

} // namespace firesteel::test
