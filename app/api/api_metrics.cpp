// SPDX-License-Identifier: MIT
#include "app/api/api_metrics.h"

#include <algorithm>
#include <format>

namespace firesteel::app {

namespace {

std::string metric(const char *name, const char *type, const char *help, auto value)
{
    return std::format("# HELP firesteel_{0} {1}\n# TYPE firesteel_{0} {2}\nfiresteel_{0} {3}\n",
                       name, help, type, value);
}

std::string engineText(const engine::EngineStats &stats)
{
    std::string text;
    text += metric("requests_running", "gauge", "Requests that the model works on.",
                   stats.runningRequests);
    text += metric("requests_waiting", "gauge", "Requests in the queue.", stats.waitingRequests);
    text += metric("context_tokens", "gauge", "Tokens the allocated context holds.",
                   stats.contextTokens);
    text += metric("context_used_tokens", "gauge", "Of these, in use.", stats.usedTokens);
    text += metric("engine_prompt_tokens_total", "counter", "Tokens of prompts read.",
                   stats.prefillTokens);
    text += metric("engine_cached_tokens_total", "counter", "Tokens of prompts not read again.",
                   stats.cachedTokens);
    text += metric("engine_decoded_tokens_total", "counter", "Tokens generated.",
                   stats.decodedTokens);
    text
        += metric("engine_decode_steps_total", "counter", "Steps of the model.", stats.decodeSteps);
    text += metric("prompt_tokens_per_second", "gauge", "Of the running or last request.",
                   stats.prefillTokensPerSecond);
    text += metric("decode_tokens_per_second", "gauge", "Of the running or last request.",
                   stats.decodeTokensPerSecond);
    text += metric("weight_bytes", "gauge", "Of the loaded model.", stats.weightBytes);
    text += metric("state_bytes", "gauge", "Caches and states of the context.", stats.stateBytes);
    text += metric("snapshot_bytes", "gauge", "Kept of earlier prompts.", stats.snapshotBytes);
    text += metric("spec_decode_num_drafts_total", "counter", "Decode steps since the load.",
                   stats.drafting.steps);
    text += metric("spec_decode_num_draft_tokens_total", "counter", "Tokens guessed.",
                   stats.drafting.drafted);
    text += metric("spec_decode_num_accepted_tokens_total", "counter", "Guesses that were right.",
                   stats.drafting.accepted);
    const std::string perPosition = "firesteel_spec_decode_num_accepted_tokens_per_pos_total";
    text += std::format("# HELP {0} Right guesses by position.\n# TYPE {0} counter\n", perPosition);
    for (std::size_t i = 0; i < stats.drafting.acceptedAt.size(); ++i)
        text += std::format("{}{{position=\"{}\"}} {}\n", perPosition, i,
                            stats.drafting.acceptedAt[i]);
    return text;
}

} // namespace

void ApiMetrics::Histogram::add(double seconds)
{
    const auto bucket = std::ranges::lower_bound(kBounds, seconds);
    ++counts[static_cast<std::size_t>(bucket - kBounds.begin())];
    sum += seconds;
}

std::string ApiMetrics::Histogram::text(const std::string &name, const std::string &help) const
{
    std::string text
        = std::format("# HELP firesteel_{0} {1}\n# TYPE firesteel_{0} histogram\n", name, help);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        count += counts[i];
        const std::string bound = i < kBounds.size() ? std::format("{}", kBounds[i]) : "+Inf";
        text += std::format("firesteel_{}_bucket{{le=\"{}\"}} {}\n", name, bound, count);
    }
    return text + std::format("firesteel_{0}_sum {1}\nfiresteel_{0}_count {2}\n", name, sum, count);
}

void ApiMetrics::add(const RequestRecord &record, const std::string &route)
{
    const std::scoped_lock lock(m_mutex);
    ++m_requests[{ route, record.status }];
    m_promptTokens += static_cast<std::uint64_t>(record.promptTokens);
    m_completionTokens += static_cast<std::uint64_t>(record.completionTokens);
    if (record.promptTokens > 0)
        m_latency.add(record.seconds);
    if (record.timeToFirstTokenSeconds)
        m_firstToken.add(*record.timeToFirstTokenSeconds);
}

std::string ApiMetrics::text(const engine::EngineStats &stats, int connections) const
{
    std::string text = engineText(stats);
    text += metric("http_connections", "gauge", "Open connections.", connections);
    const std::scoped_lock lock(m_mutex);
    text += metric("http_prompt_tokens_total", "counter", "Of answered requests.", m_promptTokens);
    text += metric("http_completion_tokens_total", "counter", "Of answered requests.",
                   m_completionTokens);
    text += m_firstToken.text("time_to_first_token_seconds", "From submission to the first token.");
    text += m_latency.text("request_seconds", "Of requests that generate.");
    text += "# HELP firesteel_http_requests_total Requests by route and status.\n"
            "# TYPE firesteel_http_requests_total counter\n";
    for (const auto &[key, count] : m_requests)
        text += std::format("firesteel_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n",
                            key.first, key.second, count);
    return text;
}

} // namespace firesteel::app
