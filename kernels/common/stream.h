// SPDX-License-Identifier: MIT
//
// Where kernels run. Launchers take a Stream last and enqueue on it; the CPU backend runs them at
// once, spread over its thread pool; the CUDA backend returns before they end. Spans given to a
// launcher lie where its stream runs. The backend is chosen when a model is loaded, never in a
// layer.
#pragma once

#include "kernels/common/thread_pool.h"

#include <memory>
#include <utility>

namespace firesteel::kernels {

class CudaQueue; // kernels/common/device.h opens one

enum class Backend { Cpu, Cuda };

// Whether this build has CUDA kernels. Launchers choose with
//
//   if constexpr (kHasCudaKernels)
//       if (stream.backend() == Backend::Cuda)
//           return cuda::family(…, stream.cuda());
//   reference::family(…, stream.pool());
//
// where a discarded call needs no definition.
#ifdef FIRESTEEL_HAS_CUDA
inline constexpr bool kHasCudaKernels = true;
#else
inline constexpr bool kHasCudaKernels = false;
#endif

class Stream
{
public:
    explicit Stream(int cpuThreads)
        : m_pool(cpuThreads)
    {
    }
    Stream(int cpuThreads, std::shared_ptr<CudaQueue> queue)
        : m_pool(cpuThreads)
        , m_queue(std::move(queue))
    {
    }

    Backend backend() const { return m_queue ? Backend::Cuda : Backend::Cpu; }
    ThreadPool &pool() { return m_pool; }
    // Only on the CUDA backend.
    CudaQueue &cuda() { return *m_queue; }

private:
    ThreadPool m_pool;
    std::shared_ptr<CudaQueue> m_queue;
};

} // namespace firesteel::kernels
