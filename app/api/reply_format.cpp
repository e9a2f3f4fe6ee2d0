// SPDX-License-Identifier: MIT
#include "app/api/reply_format.h"

#include <algorithm>
#include <format>

namespace firesteel::app {

namespace {

constexpr double kMilliseconds = 1e3;

double perSecond(int count, double seconds) { return seconds > 0 ? count / seconds : 0; }

} // namespace

std::string serverSentEvent(const Json &data, std::string_view event)
{
    std::string text;
    if (!event.empty())
        text = std::format("event: {}\n", event);
    return text + "data: " + toText(data) + "\n\n";
}

std::string openAiFinishReason(engine::FinishReason reason)
{
    switch (reason) {
    case engine::FinishReason::ToolCalls:
        return "tool_calls";
    case engine::FinishReason::Length:
    case engine::FinishReason::Repetition: // cut short too, and no word of its own
        return "length";
    default:
        return "stop";
    }
}

Json openAiUsage(const engine::Usage &usage)
{
    return { { "prompt_tokens", usage.promptTokens },
             { "completion_tokens", usage.completionTokens },
             { "total_tokens", usage.promptTokens + usage.completionTokens },
             { "prompt_tokens_details", { { "cached_tokens", usage.cachedTokens } } },
             { "completion_tokens_details", { { "reasoning_tokens", usage.reasoningTokens } } } };
}

Json timingsOf(const engine::Finished &finished)
{
    const engine::Usage &usage = finished.usage;
    const engine::Timings &timings = finished.timings;
    const int read = usage.promptTokens - usage.cachedTokens;
    return { { "queue_ms", timings.queueSeconds * kMilliseconds },
             { "cache_n", usage.cachedTokens },
             { "prompt_n", read },
             { "prompt_ms", timings.prefillSeconds * kMilliseconds },
             { "prompt_per_second", perSecond(read, timings.prefillSeconds) },
             { "predicted_n", usage.completionTokens },
             { "predicted_ms", timings.decodeSeconds * kMilliseconds },
             { "predicted_per_second",
               perSecond(std::max(usage.completionTokens - 1, 0), timings.decodeSeconds) },
             { "draft_n", finished.drafting.drafted },
             { "draft_n_accepted", finished.drafting.accepted } };
}

engine::Usage &operator+=(engine::Usage &sum, const engine::Usage &usage)
{
    sum.promptTokens += usage.promptTokens;
    sum.cachedTokens += usage.cachedTokens;
    sum.completionTokens += usage.completionTokens;
    sum.reasoningTokens += usage.reasoningTokens;
    return sum;
}

} // namespace firesteel::app
