// SPDX-License-Identifier: MIT
//
// A cancellation flag shared between the side that wants something stopped and the side that does
// it. Copies share the flag.
#pragma once

#include <atomic>
#include <memory>

namespace firesteel::engine {

class CancelToken
{
public:
    void cancel() { m_cancelled->store(true, std::memory_order_relaxed); }
    bool isCancelled() const { return m_cancelled->load(std::memory_order_relaxed); }

private:
    std::shared_ptr<std::atomic<bool>> m_cancelled = std::make_shared<std::atomic<bool>>(false);
};

} // namespace firesteel::engine
