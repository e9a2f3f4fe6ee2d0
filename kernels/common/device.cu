// SPDX-License-Identifier: MIT
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/device_partition.cuh"

#include <utility>

namespace firesteel::kernels {

namespace {

// Errors after which every call of this process fails: the device context is lost.
bool isSticky(cudaError_t status)
{
    switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
        return true;
    default:
        return false;
    }
}

bool isSupported(const cudaDeviceProp &properties)
{
    return (properties.major == 9 && properties.minor == 0)
        || (properties.major == 12 && properties.minor == 1);
}

} // namespace

void checkCuda(cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return;
    cudaGetLastError(); // reported here, so not again by the next launch's check
    throw DeviceError(std::string(call) + ": " + cudaGetErrorString(status) + " ("
                          + cudaGetErrorName(status) + ")",
                      isSticky(status));
}

DeviceSearch findDevice()
{
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver)
        return { .device = {},
                 .reason
                 = "The NVIDIA driver is absent or older than CUDA 13 needs: the model runs "
                   "on the CPU." };
    if (status != cudaSuccess || count == 0)
        return { .device = {}, .reason = "No NVIDIA GPU was found: the model runs on the CPU." };
    cudaDeviceProp properties {};
    checkCuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    if (!isSupported(properties))
        return { .device = {},
                 .reason = std::string("There are no kernels for ") + properties.name
                     + " (compute capability " + std::to_string(properties.major) + "."
                     + std::to_string(properties.minor)
                     + "; 9.0 and 12.1 are supported): the model runs on the CPU." };
    return { .device = DeviceFacts { .name = properties.name,
                                     .computeMajor = properties.major,
                                     .computeMinor = properties.minor,
                                     .multiprocessors = properties.multiProcessorCount,
                                     .memoryBytes = properties.totalGlobalMem,
                                     .l2Bytes = static_cast<std::size_t>(properties.l2CacheSize),
                                     .integrated = properties.integrated != 0 },
             .reason = {} };
}

CudaQueue::CudaQueue(int multiprocessorLimit)
{
    const DeviceSearch search = findDevice();
    if (!search.device)
        throw DeviceError(search.reason, false);
    m_multiprocessors = search.device->multiprocessors;
    if (multiprocessorLimit > 0 && multiprocessorLimit < m_multiprocessors) {
        const DevicePartition partition = openDevicePartition(multiprocessorLimit);
        m_partition = partition.context;
        m_stream = partition.stream;
        m_multiprocessors = partition.multiprocessors;
        return;
    }
    checkCuda(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "cudaStreamCreate");
}

CudaQueue::~CudaQueue()
{
    cudaStreamDestroy(m_stream);
    closeDevicePartition(m_partition);
}

std::shared_ptr<CudaQueue> openCudaQueue(int multiprocessorLimit)
{
    return std::make_shared<CudaQueue>(multiprocessorLimit);
}

void synchronize(CudaQueue &queue)
{
    checkCuda(cudaStreamSynchronize(queue.stream()), "cudaStreamSynchronize");
}

DeviceMemory::DeviceMemory(std::size_t bytes)
    : m_bytes(bytes)
{
    if (bytes == 0)
        return;
    void *data = nullptr;
    const std::string call = "cudaMalloc of " + std::to_string(bytes) + " bytes";
    checkCuda(cudaMalloc(&data, bytes), call.c_str());
    m_data = static_cast<std::byte *>(data);
}

DeviceMemory::~DeviceMemory() { cudaFree(m_data); }

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : m_data(std::exchange(other.m_data, nullptr))
    , m_bytes(std::exchange(other.m_bytes, 0))
{
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

PinnedMemory::PinnedMemory(std::size_t bytes)
    : m_bytes(bytes)
{
    if (bytes == 0)
        return;
    void *data = nullptr;
    const std::string call = "cudaMallocHost of " + std::to_string(bytes) + " bytes";
    checkCuda(cudaMallocHost(&data, bytes), call.c_str());
    m_data = static_cast<std::byte *>(data);
}

PinnedMemory::~PinnedMemory() { cudaFreeHost(m_data); }

PinnedMemory::PinnedMemory(PinnedMemory &&other) noexcept
    : m_data(std::exchange(other.m_data, nullptr))
    , m_bytes(std::exchange(other.m_bytes, 0))
{
}

PinnedMemory &PinnedMemory::operator=(PinnedMemory &&other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

DeviceRoom deviceRoom()
{
    DeviceRoom room;
    checkCuda(cudaMemGetInfo(&room.freeBytes, &room.totalBytes), "cudaMemGetInfo");
    return room;
}

void enqueueToDevice(void *device, std::span<const std::byte> pinned, CudaQueue &queue)
{
    checkCuda(cudaMemcpyAsync(device, pinned.data(), pinned.size(), cudaMemcpyHostToDevice,
                              queue.stream()),
              "cudaMemcpy to the device");
}

void copyToDevice(void *device, const void *host, std::size_t bytes, CudaQueue &queue)
{
    checkCuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, queue.stream()),
              "cudaMemcpy to the device");
    synchronize(queue);
}

void copyToHost(void *host, const void *device, std::size_t bytes, CudaQueue &queue)
{
    checkCuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, queue.stream()),
              "cudaMemcpy to the host");
    synchronize(queue);
}

void copyOnDevice(void *to, const void *from, std::size_t bytes, CudaQueue &queue)
{
    checkCuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue.stream()),
              "cudaMemcpy on the device");
}

void fillDevice(void *device, unsigned char value, std::size_t bytes, CudaQueue &queue)
{
    checkCuda(cudaMemsetAsync(device, value, bytes, queue.stream()), "cudaMemset");
}

DeviceTimer::DeviceTimer()
{
    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
    checkCuda(cudaEventCreate(&start), "cudaEventCreate");
    checkCuda(cudaEventCreate(&stop), "cudaEventCreate");
    m_start = start;
    m_stop = stop;
}

DeviceTimer::~DeviceTimer()
{
    cudaEventDestroy(static_cast<cudaEvent_t>(m_start));
    cudaEventDestroy(static_cast<cudaEvent_t>(m_stop));
}

void DeviceTimer::start(CudaQueue &queue)
{
    checkCuda(cudaEventRecord(static_cast<cudaEvent_t>(m_start), queue.stream()),
              "cudaEventRecord");
}

double DeviceTimer::stop(CudaQueue &queue)
{
    checkCuda(cudaEventRecord(static_cast<cudaEvent_t>(m_stop), queue.stream()), "cudaEventRecord");
    synchronize(queue);
    float milliseconds = 0;
    checkCuda(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(m_start),
                                   static_cast<cudaEvent_t>(m_stop)),
              "cudaEventElapsedTime");
    return 1000.0 * static_cast<double>(milliseconds);
}

DeviceGraph::DeviceGraph(CudaQueue &queue, const std::function<void()> &enqueue)
{
    checkCuda(cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture");
    cudaGraph_t recorded = nullptr;
    try {
        enqueue();
    } catch (...) {
        cudaStreamEndCapture(queue.stream(), &recorded);
        cudaGraphDestroy(recorded);
        throw;
    }
    checkCuda(cudaStreamEndCapture(queue.stream(), &recorded), "cudaStreamEndCapture");
    cudaGraphExec_t graph = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&graph, recorded, 0);
    cudaGraphDestroy(recorded);
    checkCuda(status, "cudaGraphInstantiate");
    m_graph = graph;
}

DeviceGraph::~DeviceGraph() { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(m_graph)); }

void DeviceGraph::launch(CudaQueue &queue) const
{
    checkCuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(m_graph), queue.stream()),
              "cudaGraphLaunch");
}

} // namespace firesteel::kernels
