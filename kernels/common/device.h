// SPDX-License-Identifier: MIT
//
// The GPU: finding one that these kernels run on, its memory, its queue of work. Needs no CUDA
// header, so that everything above the kernels can include it; a build without the CUDA toolkit has
// the same functions and finds no device.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace firesteel::kernels {

class CudaQueue; // kernels/common/cuda_queue.cuh

struct DeviceFacts
{
    std::string name; // "NVIDIA GB10"
    int computeMajor = 0;
    int computeMinor = 0;
    int multiprocessors = 0;
    std::size_t memoryBytes = 0;
    std::size_t l2Bytes = 0;
    bool integrated = false; // memory shared with the CPU
};

struct DeviceSearch
{
    std::optional<DeviceFacts> device;
    std::string reason; // without a device: a sentence that says why the CPU is used
};

// The first GPU (CUDA_VISIBLE_DEVICES counts) if these kernels were built for its compute
// capability: 9.0 or 12.1.
DeviceSearch findDevice();

// A CUDA call failed. A sticky error (a kernel that trapped) leaves the process without its device.
class DeviceError : public std::runtime_error
{
public:
    DeviceError(const std::string &what, bool sticky)
        : std::runtime_error(what)
        , m_sticky(sticky)
    {
    }
    bool isSticky() const { return m_sticky; }

private:
    bool m_sticky;
};

// An in-order queue of work on the device that findDevice() found.
// multiprocessorLimit: its kernels run on so many multiprocessors only (rounded up to what the
// device can set aside, 8 on compute 9.0), to measure as on a smaller GPU; 0 means all. Throws
// DeviceError.
std::shared_ptr<CudaQueue> openCudaQueue(int multiprocessorLimit = 0);

// Waits for everything enqueued. Throws DeviceError with the first failure of a kernel.
void synchronize(CudaQueue &queue);

// Device memory, freed with its owner. 256-byte aligned.
class DeviceMemory
{
public:
    DeviceMemory() = default;
    // Throws DeviceError, naming the bytes, when the device has too little.
    explicit DeviceMemory(std::size_t bytes);
    ~DeviceMemory();
    DeviceMemory(DeviceMemory &&other) noexcept;
    DeviceMemory &operator=(DeviceMemory &&other) noexcept;

    std::byte *data() const { return m_data; }
    std::size_t bytes() const { return m_bytes; }

    template <typename T> std::span<T> as() const
    {
        return { reinterpret_cast<T *>(m_data), m_bytes / sizeof(T) };
    }

private:
    std::byte *m_data = nullptr;
    std::size_t m_bytes = 0;
};

// Page-locked host memory, which the device reads and writes while the host goes on.
class PinnedMemory
{
public:
    PinnedMemory() = default;
    explicit PinnedMemory(std::size_t bytes); // throws DeviceError
    ~PinnedMemory();
    PinnedMemory(PinnedMemory &&other) noexcept;
    PinnedMemory &operator=(PinnedMemory &&other) noexcept;

    std::span<std::byte> span() const { return { m_data, m_bytes }; }

private:
    std::byte *m_data = nullptr;
    std::size_t m_bytes = 0;
};

// Bytes that can be allocated on the device now, and all that it has.
struct DeviceRoom
{
    std::size_t freeBytes = 0;
    std::size_t totalBytes = 0;
};
DeviceRoom deviceRoom(); // throws DeviceError

// In the queue's order: the pinned memory must not change before that.
void enqueueToDevice(void *device, std::span<const std::byte> pinned, CudaQueue &queue);

// Between host and device, complete when they return. The device pointer may lie inside a
// DeviceMemory.
void copyToDevice(void *device, const void *host, std::size_t bytes, CudaQueue &queue);
void copyToHost(void *host, const void *device, std::size_t bytes, CudaQueue &queue);
// In the queue's order.
void copyOnDevice(void *to, const void *from, std::size_t bytes, CudaQueue &queue);
void fillDevice(void *device, unsigned char value, std::size_t bytes, CudaQueue &queue);

// Time between two points of a queue, as the device saw them.
class DeviceTimer
{
public:
    DeviceTimer();
    ~DeviceTimer();
    DeviceTimer(const DeviceTimer &) = delete;
    DeviceTimer &operator=(const DeviceTimer &) = delete;

    void start(CudaQueue &queue);
    double stop(CudaQueue &queue); // microseconds since start(); waits for the queue

private:
    void *m_start = nullptr;
    void *m_stop = nullptr;
};

// Work recorded once and replayed without the host's part of a launch.
class DeviceGraph
{
public:
    // Records what `enqueue` puts on the queue; nothing runs. Throws DeviceError, also when
    // something in it cannot be recorded.
    DeviceGraph(CudaQueue &queue, const std::function<void()> &enqueue);
    ~DeviceGraph();
    DeviceGraph(const DeviceGraph &) = delete;
    DeviceGraph &operator=(const DeviceGraph &) = delete;

    void launch(CudaQueue &queue) const;

private:
    void *m_graph = nullptr; // instantiated
};

template <typename T> DeviceMemory toDevice(std::span<const T> values, CudaQueue &queue)
{
    DeviceMemory memory(values.size_bytes());
    copyToDevice(memory.data(), values.data(), values.size_bytes(), queue);
    return memory;
}

} // namespace firesteel::kernels
