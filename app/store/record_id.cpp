// SPDX-License-Identifier: MIT
#include "app/store/record_id.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>

namespace firesteel::app {

namespace {

constexpr int kCounterBits = 22;

} // namespace

RecordId newRecordId()
{
    static std::atomic<RecordId> last = 0;
    static thread_local std::mt19937 random { std::random_device {}() };
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    // Half of the counter's range is left to count up within a millisecond.
    std::uniform_int_distribution<RecordId> start(0, (RecordId { 1 } << (kCounterBits - 1)) - 1);
    const RecordId fresh = (static_cast<RecordId>(now.count()) << kCounterBits) | start(random);
    RecordId before = last.load();
    RecordId id = 0;
    // A clock set back must not break the order either.
    do {
        id = std::max(fresh, before + 1);
    } while (!last.compare_exchange_weak(before, id));
    return id;
}

} // namespace firesteel::app
