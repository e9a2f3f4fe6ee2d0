// SPDX-License-Identifier: MIT
#include "engine/tools/bench_speculate_command.h"

#include "engine/tools/cli_request.h"
#include "engine/tools/cli_session.h"
#include "engine/tools/cli_terminal.h"

#include <algorithm>
#include <array>
#include <format>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace firesteel::engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kAnswerTokens = 128;

struct Kind
{
    std::string_view name;
    std::array<std::string_view, 3> prompts;
};

// Also within the reach of the demonstration model.
constexpr Kind kKinds[] = {
    { "structured",
      { "Count from 1 to 60.", "Count down from 80 to 30.", "Write the letters from A to Z." } },
    { "json",
      { "Please write a JSON array of the numbers 7 to 41.",
        "Please write a JSON array of the numbers 112 to 140.",
        "Please write a JSON array of the numbers 60 to 85." } },
    { "code",
      { "Can you write the Fibonacci sequence in Python?", "Write bubble sort in Python.",
        "Write a function that checks for a palindrome in Python." } },
    { "prose",
      { "Tell me a story about a fox and a lamp.", "Tell me about the seasons.",
        "Tell me about the moon." } },
    { "retrieval",
      { "Repeat exactly: QX-771 kilo 4482 amber RT-905 delta 1177 slate QX-771 kilo 4482 amber",
        "The code of Pine is WX-771, the code of Oak is LM-204, the code of Fir is ZK-938. What "
        "is the code of Oak?",
        "Reverse the order of these words: mouse, train, garden, engine, spoon, flag" } },
};

struct Setting
{
    Drafting drafting;
    std::string name() const
    {
        if (drafting.drafter == DrafterKind::None)
            return "none";
        return std::format("{} K={}", drafterName(drafting.drafter),
                           drafting.tokens ? std::to_string(*drafting.tokens) : "auto");
    }
};

std::vector<Setting> settingsOf(const ModelInfo &info)
{
    std::vector<Setting> settings { { { DrafterKind::None, 0 } } };
    for (const DrafterKind drafter : { DrafterKind::Dflash2, DrafterKind::Lookup }) {
        if (drafter == DrafterKind::Dflash2 && info.drafter.empty())
            continue;
        for (const int k : { 1, 3, 5, 7, 8 })
            settings.push_back({ { drafter, k } });
    }
    settings.push_back({ { DrafterKind::Auto, {} } });
    return settings;
}

struct Row
{
    std::string_view kind;
    Setting setting;
    float temperature = 0;
    int tokens = 0; // after the first of each answer
    double seconds = 0; // of those
    DraftCounts counts;

    double perSecond() const { return seconds > 0 ? tokens / seconds : 0; }
    double perStep() const
    {
        return counts.steps > 0 ? static_cast<double>(tokens) / counts.steps : 0;
    }
    double milliseconds(double total) const
    {
        return counts.steps > 0 ? 1000 * total / counts.steps : 0;
    }
};

// One kind of text at one setting. Errors: the engine's; Cancelled after a signal; Internal if
// drafts changed an answer, which `expected` holds by prompt once the undrafted run has filled it.
Result<Row> measure(CliSession &session, const ModelInfo &info, const CliOptions &options,
                    const Kind &kind, const Setting &setting, float temperature,
                    std::vector<std::vector<std::int32_t>> &expected)
{
    Row row { .kind = kind.name, .setting = setting, .temperature = temperature, .counts = {} };
    CliOptions asked = options;
    asked.temperature = temperature;
    asked.promptOptions.effort = ReasoningEffort::Low;
    asked.maxTokens = options.maxTokens.value_or(kAnswerTokens);
    asked.drafting = setting.drafting;
    for (std::size_t p = 0; p < kind.prompts.size(); ++p) {
        const std::vector<Message> messages { Message::text(Role::User,
                                                            std::string(kind.prompts.at(p))) };
        auto request
            = makeRequest(session.engine(), asked, info, messages, {}, options.seed.value_or(1));
        if (!request)
            return std::unexpected(request.error());
        const auto answer
            = session.run(std::move(*request), [](const GenerationEvent &) { return true; });
        if (!answer)
            return std::unexpected(answer.error());
        if (answer->interruptedBy != CliSignal::None)
            return fail(ErrorCode::Cancelled, "interrupted");
        const Finished &finished = answer->finished;
        if (expected.size() <= p)
            expected.push_back(finished.tokens);
        else if (expected[p] != finished.tokens)
            return fail(
                ErrorCode::Internal,
                std::format("{} changed the answer to \"{}\"", setting.name(), kind.prompts.at(p)));
        row.tokens += finished.usage.completionTokens - 1;
        row.seconds += finished.timings.decodeSeconds;
        row.counts += finished.drafting;
    }
    return row;
}

Json jsonOf(const Row &row)
{
    return { { "text", row.kind },
             { "drafter", drafterName(row.setting.drafting.drafter) },
             { "k",
               row.setting.drafting.tokens ? Json(*row.setting.drafting.tokens) : Json("auto") },
             { "temperature", row.temperature },
             { "tokens", row.tokens },
             { "tokens_per_second", row.perSecond() },
             { "tokens_per_step", row.perStep() },
             { "steps", row.counts.steps },
             { "drafted_at", row.counts.draftedAt },
             { "accepted_at", row.counts.acceptedAt },
             { "draft_ms_per_step", row.milliseconds(row.counts.draftSeconds) },
             { "verify_ms_per_step", row.milliseconds(row.counts.verifySeconds) } };
}

std::string lineOf(const Row &row)
{
    return std::format("{:<11} {:>4.1f}  {:<14} {:>8.1f} {:>8.2f} {:>9.2f} {:>9.2f}\n", row.kind,
                       row.temperature, row.setting.name(), row.perSecond(), row.perStep(),
                       row.milliseconds(row.counts.draftSeconds),
                       row.milliseconds(row.counts.verifySeconds));
}

} // namespace

int runBenchSpeculate(const CliOptions &options, const CliSignals &signals)
{
    CliSession session(signals, false);
    const auto info = loadModel(session, options);
    if (!info)
        return reportError(info.error());
    Json rows = Json::array();
    if (!options.printsJson
        && !writeOutput(std::format("{}, {}\n{:<11} {:>4}  {:<14} {:>8} {:>8} {:>9} {:>9}\n",
                                    info->name, info->backend, "text", "T", "drafter", "tok/s",
                                    "per step", "draft ms", "verify ms")))
        return kExitFailure;
    for (const Kind &kind : kKinds) {
        for (const float temperature : { 0.0F, 0.7F, 1.0F }) {
            std::vector<std::vector<std::int32_t>> expected;
            for (const Setting &setting : settingsOf(*info)) {
                const auto row
                    = measure(session, *info, options, kind, setting, temperature, expected);
                if (!row)
                    return reportError(row.error());
                if (options.printsJson)
                    rows.push_back(jsonOf(*row));
                else if (!writeOutput(lineOf(*row)))
                    return kExitFailure;
            }
        }
    }
    if (!options.printsJson)
        return 0;
    const Json report = { { "model", info->name },
                          { "backend", info->backend },
                          { "drafter", info->drafter },
                          { "rows", rows } };
    return writeOutput(report.dump(1) + "\n") ? 0 : kExitFailure;
}

} // namespace firesteel::engine
