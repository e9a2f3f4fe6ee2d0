// SPDX-License-Identifier: MIT
#include "kernels/common/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>

namespace firesteel::kernels {

struct ThreadPool::Job
{
    const std::function<void(std::int64_t, std::int64_t)> *body = nullptr;
    std::int64_t count = 0;
    std::int64_t grain = 1;
    std::atomic<std::int64_t> next { 0 };
    std::mutex errorMutex;
    std::exception_ptr error;
};

ThreadPool::ThreadPool(int threads)
{
    if (threads <= 0)
        threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int i = 1; i < threads; ++i)
        m_workers.emplace_back([this] { workerLoop(); });
}

ThreadPool::~ThreadPool()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_all();
}

void ThreadPool::runParts(Job &job)
{
    for (;;) {
        const std::int64_t begin = job.next.fetch_add(job.grain, std::memory_order_relaxed);
        if (begin >= job.count)
            return;
        try {
            (*job.body)(begin, std::min(begin + job.grain, job.count));
        } catch (...) {
            const std::lock_guard lock(job.errorMutex);
            job.error = std::current_exception();
        }
    }
}

void ThreadPool::workerLoop()
{
    std::uint64_t seen = 0;
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_wake.wait(lock, [&] { return m_stopping || (m_job != nullptr && m_generation != seen); });
        if (m_stopping)
            return;
        seen = m_generation;
        Job *job = m_job;
        ++m_active;
        lock.unlock();
        runParts(*job);
        lock.lock();
        if (--m_active == 0)
            m_done.notify_one();
    }
}

void ThreadPool::parallelFor(std::int64_t count, std::int64_t grain,
                             const std::function<void(std::int64_t, std::int64_t)> &body)
{
    if (count <= 0)
        return;
    Job job;
    job.body = &body;
    job.count = count;
    job.grain = std::max<std::int64_t>(1, grain);
    if (m_workers.empty() || count <= job.grain) {
        runParts(job);
    } else {
        {
            const std::lock_guard lock(m_mutex);
            m_job = &job;
            ++m_generation;
        }
        m_wake.notify_all();
        runParts(job);
        // Workers that woke up in time are counted; closing the job keeps late ones away from this
        // stack frame.
        std::unique_lock lock(m_mutex);
        m_job = nullptr;
        m_done.wait(lock, [&] { return m_active == 0; });
    }
    if (job.error)
        std::rethrow_exception(job.error);
}

} // namespace firesteel::kernels
