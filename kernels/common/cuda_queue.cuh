// SPDX-License-Identifier: MIT
//
// What .cu files see of a CudaQueue, and how they report errors.
#pragma once

#include "kernels/common/device.h"

#include <cuda_runtime.h>

namespace firesteel::kernels {

class CudaQueue
{
public:
    explicit CudaQueue(int multiprocessorLimit);
    ~CudaQueue();
    CudaQueue(const CudaQueue &) = delete;
    CudaQueue &operator=(const CudaQueue &) = delete;

    cudaStream_t stream() const { return m_stream; }
    // What a persistent grid may fill: the device's count, or what a limited queue was given.
    int multiprocessors() const { return m_multiprocessors; }

private:
    void *m_partition = nullptr; // of a limited queue
    cudaStream_t m_stream = nullptr;
    int m_multiprocessors = 0;
};

// Throws DeviceError naming the call unless status is success.
void checkCuda(cudaError_t status, const char *call);

// After a launch: configuration errors show at once, faults of the kernel at synchronize().
inline void checkLaunch(const char *kernel) { checkCuda(cudaGetLastError(), kernel); }

// Launches a kernel that may start before the one in front of it in the queue has ended: it must
// call cudaGridDependencySynchronize() before it touches what that one, or any before it, reads or
// writes.
template <typename... Parameters, typename... Arguments>
void launchAhead(void (*kernel)(Parameters...), dim3 grid, int threads, int sharedBytes,
                 CudaQueue &queue, const char *name, const Arguments &...arguments)
{
    cudaLaunchAttribute attribute {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config {};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(sharedBytes);
    config.stream = queue.stream();
    config.attrs = &attribute;
    config.numAttrs = 1;
    checkCuda(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

} // namespace firesteel::kernels
