// SPDX-License-Identifier: MIT
//
// What GET /metrics reports in the text format of Prometheus: counters of the endpoint's requests
// and what the engine says of itself. Any thread.
#pragma once

#include "app/api/request_record.h"
#include "engine/api/engine.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace firesteel::app {

class ApiMetrics
{
public:
    // One that has ended. `route`: of a small set of names, since each is a time series of its own.
    void add(const RequestRecord &record, const std::string &route);
    std::string text(const engine::EngineStats &stats, int connections) const;

private:
    // Upper bounds of the buckets, seconds; the last bucket is without one.
    static constexpr std::array<double, 10> kBounds {
        0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120
    };
    struct Histogram
    {
        std::array<std::uint64_t, kBounds.size() + 1> counts = {};
        double sum = 0;

        void add(double seconds);
        std::string text(const std::string &name, const std::string &help) const;
    };

    mutable std::mutex m_mutex;
    std::map<std::pair<std::string, int>, std::uint64_t> m_requests; // by route and status
    std::uint64_t m_promptTokens = 0;
    std::uint64_t m_completionTokens = 0;
    Histogram m_latency;
    Histogram m_firstToken;
};

} // namespace firesteel::app
