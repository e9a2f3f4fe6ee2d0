// SPDX-License-Identifier: MIT
//
// Where kernels run. Launchers take a Stream last and enqueue on it; the CPU backend runs them at
// once, spread over its thread pool. The backend is chosen when a model is loaded, never in a
// layer.
#pragma once

#include "kernels/common/thread_pool.h"

namespace firesteel::kernels {

enum class Backend { Cpu };

class Stream
{
public:
    explicit Stream(int cpuThreads)
        : m_pool(cpuThreads)
    {
    }

    Backend backend() const { return Backend::Cpu; }
    ThreadPool &pool() { return m_pool; }

private:
    ThreadPool m_pool;
};

} // namespace firesteel::kernels
