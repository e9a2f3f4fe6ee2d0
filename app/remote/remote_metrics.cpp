// SPDX-License-Identifier: MIT
#include "app/remote/remote_metrics.h"

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

RemoteReading readingOfVllm(const PrometheusText &text)
{
    RemoteReading reading { .server = u"vLLM"_s };
    reading.running = text.sum("vllm:num_requests_running");
    reading.waiting = text.sum("vllm:num_requests_waiting");
    // One sample for each engine of a data-parallel server. Versions before 0.10 have the other
    // name.
    reading.cacheUse = text.mean("vllm:kv_cache_usage_perc");
    if (!reading.cacheUse)
        reading.cacheUse = text.mean("vllm:gpu_cache_usage_perc");
    reading.promptTotal = text.sum("vllm:prompt_tokens_total");
    reading.generatedTotal = text.sum("vllm:generation_tokens_total");
    reading.draftedTotal = text.sum("vllm:spec_decode_num_draft_tokens_total");
    reading.acceptedTotal = text.sum("vllm:spec_decode_num_accepted_tokens_total");
    return reading;
}

RemoteReading readingOfSglang(const PrometheusText &text)
{
    RemoteReading reading { .server = u"SGLang"_s };
    reading.running = text.sum("sglang:num_running_reqs");
    reading.waiting = text.sum("sglang:num_queue_reqs");
    reading.cacheUse = text.mean("sglang:token_usage");
    reading.promptTotal = text.sum("sglang:prompt_tokens_total");
    reading.generatedTotal = text.sum("sglang:generation_tokens_total");
    reading.generationRate = text.sum("sglang:gen_throughput");
    return reading;
}

RemoteReading readingOfFiresteel(const PrometheusText &text)
{
    RemoteReading reading { .server = u"Firesteel"_s };
    reading.running = text.sum("firesteel_requests_running");
    reading.waiting = text.sum("firesteel_requests_waiting");
    const double context = text.sum("firesteel_context_tokens").value_or(0);
    if (const auto used = text.sum("firesteel_context_used_tokens"); used && context > 0)
        reading.cacheUse = *used / context;
    reading.promptTotal = text.sum("firesteel_engine_prompt_tokens_total");
    reading.generatedTotal = text.sum("firesteel_engine_decoded_tokens_total");
    reading.draftedTotal = text.sum("firesteel_spec_decode_num_draft_tokens_total");
    reading.acceptedTotal = text.sum("firesteel_spec_decode_num_accepted_tokens_total");
    return reading;
}

} // namespace

RemoteReading readingOf(const PrometheusText &text)
{
    if (text.hasPrefix("vllm:"))
        return readingOfVllm(text);
    if (text.hasPrefix("sglang:"))
        return readingOfSglang(text);
    if (text.hasPrefix("firesteel_"))
        return readingOfFiresteel(text);
    return {};
}

std::optional<double> ratePerSecond(std::optional<double> before, std::optional<double> now,
                                    double seconds)
{
    if (!before || !now || seconds <= 0 || *now < *before)
        return std::nullopt;
    return (*now - *before) / seconds;
}

} // namespace firesteel::app
