// SPDX-License-Identifier: MIT
//
// A fixed set of threads that splits index ranges. Which thread runs which part never changes a
// result: parts are independent and every reduction stays inside one part.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace firesteel::kernels {

// Multiply-adds that are worth another thread: waking one costs about 10 us.
inline constexpr std::int64_t kPartWork = 256LL * 1024;

class ThreadPool
{
public:
    // threads: the caller included; 0 means one per core.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    int size() const { return static_cast<int>(m_workers.size()) + 1; }

    // Calls body(begin, end) for consecutive parts of [0, count) and returns when all are done.
    // Parts hold `grain` indices, the last one fewer. One caller at a time; not from inside a body.
    void parallelFor(std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t begin, std::int64_t end)> &body);

private:
    struct Job;
    void workerLoop();
    static void runParts(Job &job);

    std::vector<std::jthread> m_workers;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_done;
    Job *m_job = nullptr;
    std::uint64_t m_generation = 0;
    int m_active = 0;
    bool m_stopping = false;
};

} // namespace firesteel::kernels
