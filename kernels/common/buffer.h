// SPDX-License-Identifier: MIT
//
// Memory of a fixed size where a stream runs: on the CPU or on the device.
#pragma once

#include "kernels/common/device.h"
#include "kernels/common/stream.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace firesteel::kernels {

// `bytes` bytes from one place to another where the stream runs, in the stream's order.
void copyWithin(void *to, const void *from, std::size_t bytes, Stream &stream);

template <typename T> class Buffer
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;

    // Zeros. Throws DeviceError when the device has too little memory.
    static Buffer zeros(std::size_t count, Stream &stream)
    {
        Buffer result = uninitialized(count, stream);
        result.setZero(stream);
        return result;
    }
    // On the CPU, pages are touched as they are written.
    static Buffer uninitialized(std::size_t count, Stream &stream)
    {
        Buffer result;
        result.m_count = count;
        if (stream.backend() == Backend::Cuda)
            result.m_device = DeviceMemory(count * sizeof(T));
        else
            result.m_host = std::make_unique_for_overwrite<T[]>(count);
        return result;
    }
    static Buffer copyOf(std::span<const T> host, Stream &stream)
    {
        Buffer result = uninitialized(host.size(), stream);
        result.assign(host, stream);
        return result;
    }

    Buffer clone(Stream &stream) const
    {
        Buffer result = uninitialized(m_count, stream);
        copyWithin(result.data(), data(), bytes(), stream);
        return result;
    }

    std::span<T> span() const
    {
        return m_host ? std::span<T>(m_host.get(), m_count) : m_device.as<T>();
    }
    T *data() const { return span().data(); }
    std::size_t size() const { return m_count; }
    bool empty() const { return m_count == 0; }
    std::size_t bytes() const { return m_count * sizeof(T); }
    // A buffer is handed to launchers as the span it is.
    operator std::span<T>() const { return span(); } // NOLINT(google-explicit-constructor)
    operator std::span<const T>() const { return span(); } // NOLINT(google-explicit-constructor)

    // Its first host.size() values.
    void assign(std::span<const T> host, Stream &stream)
    {
        if (stream.backend() == Backend::Cuda)
            copyToDevice(data(), host.data(), host.size_bytes(), stream.cuda());
        else
            std::ranges::copy(host, data());
    }
    void setZero(Stream &stream)
    {
        if (stream.backend() == Backend::Cuda)
            fillDevice(data(), 0, bytes(), stream.cuda());
        else
            std::fill_n(data(), m_count, T {});
    }
    std::vector<T> toHost(Stream &stream) const
    {
        std::vector<T> result(m_count);
        if (stream.backend() == Backend::Cuda)
            copyToHost(result.data(), data(), bytes(), stream.cuda());
        else
            std::ranges::copy(span(), result.begin());
        return result;
    }

private:
    std::size_t m_count = 0;
    std::unique_ptr<T[]> m_host;
    DeviceMemory m_device;
};

} // namespace firesteel::kernels
