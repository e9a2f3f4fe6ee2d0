// SPDX-License-Identifier: MIT
#include "engine/tools/generate_command.h"

#include "engine/tools/cli_request.h"
#include "engine/tools/cli_session.h"
#include "engine/tools/cli_terminal.h"

#include <format>
#include <nlohmann/json.hpp>

namespace firesteel::engine {

namespace {

using Json = nlohmann::ordered_json;

std::string_view finishReasonName(FinishReason reason)
{
    switch (reason) {
    case FinishReason::Stop:
        return "stop";
    case FinishReason::StopString:
        return "stop_string";
    case FinishReason::ToolCalls:
        return "tool_calls";
    case FinishReason::Length:
        return "length";
    case FinishReason::Repetition:
        return "repetition";
    case FinishReason::Cancelled:
        break;
    }
    return "cancelled";
}

Json draftingReport(const DraftCounts &drafting)
{
    return { { "steps", drafting.steps },
             { "drafted", drafting.drafted },
             { "accepted", drafting.accepted },
             { "drafted_at", drafting.draftedAt },
             { "accepted_at", drafting.acceptedAt },
             { "draft_seconds", drafting.draftSeconds },
             { "verify_seconds", drafting.verifySeconds } };
}

double perSecond(int tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0; }

std::string jsonReport(const Answer &answer, const ModelInfo &info, std::uint64_t seed)
{
    Json calls = Json::array();
    for (const ToolCall &call : answer.toolCalls) {
        calls.push_back({ { "id", call.id },
                          { "name", call.name },
                          { "arguments", Json::parse(call.argumentsJson, nullptr, false) } });
    }
    const Usage &usage = answer.finished.usage;
    const Timings &timings = answer.finished.timings;
    const Json report = {
        { "model", info.name },
        { "backend", info.backend },
        { "text", answer.text },
        { "thinking", answer.thinking },
        { "tool_calls", calls },
        { "finish_reason", finishReasonName(answer.finished.reason) },
        { "seed", seed },
        { "tokens", answer.finished.tokens },
        { "usage",
          { { "prompt_tokens", usage.promptTokens },
            { "cached_tokens", usage.cachedTokens },
            { "completion_tokens", usage.completionTokens },
            { "reasoning_tokens", usage.reasoningTokens } } },
        { "timings",
          { { "queue_seconds", timings.queueSeconds },
            { "prefill_seconds", timings.prefillSeconds },
            { "time_to_first_token_seconds", timings.timeToFirstTokenSeconds },
            { "decode_seconds", timings.decodeSeconds },
            { "prefill_tokens_per_second",
              perSecond(usage.promptTokens - usage.cachedTokens, timings.prefillSeconds) },
            // The first token comes out of the prefill.
            { "decode_tokens_per_second",
              perSecond(usage.completionTokens - 1, timings.decodeSeconds) } } },
        { "drafter", info.drafter },
        { "drafting", draftingReport(answer.finished.drafting) },
    };
    return report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> promptText(const CliOptions &options, const CliSignals &signals)
{
    std::string prompt = options.prompt.value_or("");
    if (prompt != "-")
        return prompt;
    auto text = CliInput(signals).readAll();
    // A line typed or echoed ends with a newline that nobody means; a raw prompt is taken to the
    // byte.
    if (text && options.promptOptions.applyTemplate && text->ends_with('\n'))
        text->pop_back();
    return text;
}

// Shows an event while it happens; false once standard output is gone.
bool showEvent(const GenerationEvent &event, const CliOptions &options)
{
    if (const auto *thinking = std::get_if<ThinkingDelta>(&event);
        thinking != nullptr && options.showsThinking)
        writeError(thinking->text);
    if (options.printsJson)
        return true;
    if (const auto *text = std::get_if<TextDelta>(&event))
        return writeOutput(text->text);
    if (const auto *call = std::get_if<ToolCallEvent>(&event))
        return writeOutput(std::format("{}{} {}", call->index > 0 ? "\n" : "", call->call.name,
                                       call->call.argumentsJson));
    return true;
}

} // namespace

int runGenerate(const CliOptions &options, const CliSignals &signals)
{
    const auto text = promptText(options, signals);
    if (!text)
        return reportError(text.error());
    const auto tools = readTools(options.toolsFile);
    if (!tools)
        return reportError(tools.error());
    CliSession session(signals, options.isVerbose);
    const auto info = loadModel(session, options);
    if (!info)
        return reportError(info.error());

    std::vector<Message> messages;
    if (!options.system.empty())
        messages.push_back(Message::text(Role::System, options.system));
    messages.push_back(Message::text(Role::User, *text));
    const std::uint64_t seed = chosenSeed(options);
    auto request = makeRequest(session.engine(), options, *info, messages, *tools, seed);
    if (!request)
        return reportError(request.error());

    bool isWritable = true;
    const auto answer = session.run(std::move(*request), [&](const GenerationEvent &event) {
        isWritable = isWritable && showEvent(event, options);
        return isWritable;
    });
    if (!answer)
        return reportError(answer.error());
    if (isWritable)
        isWritable = writeOutput(options.printsJson ? jsonReport(*answer, *info, seed) : "\n");
    if (options.showsThinking)
        writeError("\n");
    if (!isWritable)
        return reportError({ ErrorCode::Io, "standard output was closed" });
    if (answer->interruptedBy != CliSignal::None)
        return reportError({ ErrorCode::Cancelled, "interrupted" });
    return 0;
}

} // namespace firesteel::engine
