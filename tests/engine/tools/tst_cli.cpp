// SPDX-License-Identifier: MIT
#include "tests/engine/tools/cli_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace firesteel;
using test::CliRun;
using test::runCli;
using Words = std::vector<std::string>;

namespace {

// A tiny model on disk, and calls on it. Random weights: what is said is noise, but reproducible
// noise.
class TinyModel
{
public:
    explicit TinyModel(const test::TinyCheckpoint &options = {})
    {
        test::writeTinyCheckpoint(m_folder.path(), options);
    }

    CliRun run(Words arguments, std::string input = {}) const
    {
        return runCli(
            { .arguments = with(std::move(arguments)), .input = std::move(input), .onOutput = {} });
    }
    Words with(Words arguments) const
    {
        arguments.insert(arguments.end(), { "--model", m_folder.path().string() });
        return arguments;
    }
    const test::TemporaryFolder &folder() const { return m_folder; }

private:
    test::TemporaryFolder m_folder;
};

// Its end-of-turn id has no token, so only the end of a long context ends an answer.
test::TinyCheckpoint endless()
{
    test::TinyCheckpoint options;
    options.shape.eosTokenIds = { options.shape.vocabularySize - 1 };
    options.shape.maxPositionEmbeddings = 50000;
    return options;
}

bool isOneLine(const std::string &text)
{
    return text.ends_with('\n') && std::ranges::count(text, '\n') == 1;
}

void checkUsageError(const Words &arguments, const std::string &named)
{
    CAPTURE(named);
    const CliRun run = runCli({ .arguments = arguments, .input = {}, .onOutput = {} });
    CHECK(run.status == 2);
    CHECK(run.output.empty());
    CHECK(isOneLine(run.error));
    CHECK(run.error.starts_with("firesteel-cli: "));
    CHECK(run.error.find(named) != std::string::npos);
}

} // namespace

TEST_CASE("help and version go to standard output")
{
    for (const Words &arguments :
         { Words { "--help" }, Words { "-h" }, Words { "generate", "--help" } }) {
        const CliRun run = runCli({ .arguments = arguments, .input = {}, .onOutput = {} });
        CHECK(run.status == 0);
        CHECK(run.output.find("generate") != std::string::npos);
        CHECK(run.output.find("--max-tokens") != std::string::npos);
        CHECK(run.error.empty());
    }
    const CliRun version = runCli({ .arguments = { "--version" }, .input = {}, .onOutput = {} });
    CHECK(version.status == 0);
    CHECK(version.output.starts_with("firesteel-cli "));
}

TEST_CASE("wrong usage is told in one line with status 2")
{
    checkUsageError({}, "--help");
    checkUsageError({ "sing" }, "'sing'");
    checkUsageError({ "generate" }, "--prompt");
    checkUsageError({ "generate", "--prompt" }, "--prompt needs a value");
    checkUsageError({ "generate", "--prompt", "a", "--lout" }, "'--lout'");
    checkUsageError({ "generate", "--prompt", "a", "b" }, "'b'");
    checkUsageError({ "chat", "--prompt", "a" }, "'--prompt'");
    checkUsageError({ "generate", "--prompt", "a", "--temperature", "warm" }, "'warm'");
    checkUsageError({ "generate", "--prompt", "a", "--temperature", "nan" }, "'nan'");
    checkUsageError({ "generate", "--prompt", "a", "--top-k", "4x" }, "'4x'");
    checkUsageError({ "generate", "--prompt", "a", "--seed=-1" }, "'-1'");
    checkUsageError({ "generate", "--prompt", "a", "--max-tokens", "99999999999" },
                    "'99999999999'");
    checkUsageError({ "generate", "--prompt", "a", "--effort", "none" }, "'none'");
    checkUsageError({ "generate", "--prompt", "a", "--stop", "" }, "--stop");
    checkUsageError({ "generate", "--prompt", "a", "--k", "many" }, "'many'");
    checkUsageError({ "generate", "--prompt", "a", "--drafter", "mtp" }, "'mtp'");
    checkUsageError({ "bench" }, "'bench'");
    checkUsageError({ "bench", "press" }, "'bench press'");
    checkUsageError({ "bench", "speculate", "--k", "3" }, "'--k'");
    checkUsageError({ "bench", "load", "--rows", "3" }, "'--rows'");
    checkUsageError({ "generate", "--prompt", "a", "--greedy=yes" }, "takes no value");
    checkUsageError({ "generate", "--prompt", "a", "--raw", "--system", "b" }, "--raw");
}

TEST_CASE("bench load reads every byte of a model's tensors")
{
    const TinyModel model;
    const CliRun run = model.run({ "bench", "load", "--processor", "cpu" });
    CAPTURE(run.error);
    REQUIRE(run.status == 0);
    const auto report = nlohmann::json::parse(run.output);
    CHECK(report["bytes"].get<std::uint64_t>() > 100'000);
    CHECK(report["load_gb_per_second"].get<double>() > 0);
    CHECK(report["rounds"].size() == 3);
}

TEST_CASE("values that only the engine can judge are usage errors too")
{
    const TinyModel model;
    for (const Words &wrong :
         { Words { "--temperature", "-1" }, Words { "--top-p", "0" }, Words { "--min-p", "1" },
           Words { "--max-tokens", "0" }, Words { "--context", "5000" },
           Words { "--threads", "-3" }, Words { "--k", "9" }, Words { "--drafter", "dflash2" } }) {
        Words arguments = { "generate", "--prompt", "a" };
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        const CliRun run = model.run(arguments);
        CAPTURE(wrong.front());
        CHECK(run.status == 2);
        CHECK(isOneLine(run.error));
        CHECK(run.output.empty());
    }
}

TEST_CASE("what goes wrong at run time is told in one line with status 1")
{
    const CliRun missing
        = runCli({ .arguments = { "generate", "--prompt", "a", "--model", "/nowhere" },
                   .input = {},
                   .onOutput = {} });
    CHECK(missing.status == 1);
    CHECK(isOneLine(missing.error));
    CHECK(missing.error.find("/nowhere") != std::string::npos);

    const TinyModel model;
    const CliRun tooLong
        = model.run({ "generate", "--context", "64", "--prompt", std::string(500, '#') });
    CHECK(tooLong.status == 1);
    CHECK(isOneLine(tooLong.error));
    CHECK(tooLong.error.find("maximum context length is 64 tokens") != std::string::npos);

    const CliRun noTools = model.run({ "generate", "--prompt", "a", "--tools", "/nowhere.json" });
    CHECK(noTools.status == 1);
    test::writeFile(model.folder() / "tools.json", "{}");
    const CliRun badTools = model.run(
        { "generate", "--prompt", "a", "--tools", (model.folder() / "tools.json").string() });
    CHECK(badTools.status == 2);
    CHECK(isOneLine(badTools.error));
}

TEST_CASE("generate --json gives one object that says everything")
{
    const TinyModel model;
    const Words arguments
        = { "generate", "--prompt", "the ring", "--max-tokens", "12", "--seed", "7", "--json" };
    const CliRun run = model.run(arguments);
    REQUIRE(run.status == 0);
    CHECK(run.error.empty());
    CHECK(isOneLine(run.output));
    const auto json = nlohmann::json::parse(run.output);
    CHECK(json.at("seed") == 7);
    CHECK(json.at("text").is_string());
    CHECK(json.at("thinking").is_string());
    CHECK(json.at("tool_calls").is_array());
    CHECK(json.at("tokens").size() == json.at("usage").at("completion_tokens"));
    CHECK(json.at("usage").at("prompt_tokens") > 0);
    CHECK(json.at("timings").at("decode_tokens_per_second") >= 0);
    CHECK(json.at("drafter") == ""); // none lies beside the model
    CHECK(json.at("drafting").at("accepted") <= json.at("drafting").at("drafted"));
    CHECK(json.at("drafting").at("drafted_at").size() == 8);
    const std::string reason = json.at("finish_reason");
    CHECK((reason == "length" || reason == "stop"));

    CHECK(nlohmann::json::parse(model.run(arguments).output).at("tokens") == json.at("tokens"));
}

TEST_CASE("without --seed the one that was used is reported and reproduces the answer")
{
    const TinyModel model;
    const auto first = nlohmann::json::parse(
        model.run({ "generate", "--prompt", "a", "--max-tokens", "20", "--json" }).output);
    const std::uint64_t seed = first.at("seed");
    const auto again
        = nlohmann::json::parse(model
                                    .run({ "generate", "--prompt", "a", "--max-tokens", "20",
                                           "--json", "--seed", std::to_string(seed) })
                                    .output);
    CHECK(again.at("tokens") == first.at("tokens"));
}

TEST_CASE("the prompt may come from standard input, and --raw takes it to the byte")
{
    const TinyModel model;
    const auto tokens
        = [](const CliRun &run) { return nlohmann::json::parse(run.output).at("tokens"); };
    const Words options = { "--greedy", "--max-tokens", "8", "--json" };
    const auto call = [&](Words arguments, std::string input = {}) {
        arguments.insert(arguments.end(), options.begin(), options.end());
        return model.run(std::move(arguments), std::move(input));
    };
    CHECK(tokens(call({ "generate", "--prompt", "-" }, "the well\n"))
          == tokens(call({ "generate", "--prompt", "the well" })));
    const CliRun raw = call({ "generate", "--raw", "--prompt", "-" }, "the well\n");
    const CliRun argument = call({ "generate", "--raw", "--prompt", "the well\n" });
    CHECK(tokens(raw) == tokens(argument));
    CHECK(nlohmann::json::parse(raw.output).at("usage").at("prompt_tokens")
          < nlohmann::json::parse(call({ "generate", "--prompt", "the well" }).output)
                .at("usage")
                .at("prompt_tokens"));
    CHECK(call({ "generate", "--prompt", "-" }, "").status == 0); // an empty message is a message
}

TEST_CASE("plain output is the answer alone, the reasoning is shown on demand")
{
    const TinyModel model;
    const Words arguments
        = { "generate", "--greedy", "--max-tokens", "12", "--prompt", "in there" };
    Words asJson = arguments;
    asJson.emplace_back("--json");
    const auto json = nlohmann::json::parse(model.run(asJson).output);
    const CliRun plain = model.run(arguments);
    CHECK(plain.status == 0);
    CHECK(plain.output == json.at("text").get<std::string>() + "\n");
    CHECK(plain.error.empty());
    Words shown = arguments;
    shown.emplace_back("--show-thinking");
    CHECK(model.run(shown).error == json.at("thinking").get<std::string>() + "\n");
}

TEST_CASE("chat takes a turn per line, starts over and quits")
{
    const TinyModel model;
    const Words arguments = { "chat", "--greedy", "--no-thinking", "--max-tokens", "6" };
    const CliRun three = model.run(arguments, "hello\n\n/new\nhello\n/quit\nnever\n");
    CHECK(three.status == 0);
    CHECK(three.error.empty());
    // After /new the same line has the same answer.
    CHECK(three.output.size() % 2 == 0);
    CHECK(three.output.substr(0, three.output.size() / 2)
          == three.output.substr(three.output.size() / 2));
    const CliRun endless = model.run(arguments, "hello");
    CHECK(endless.status == 0);
    CHECK(endless.output == three.output.substr(0, three.output.size() / 2));
}

TEST_CASE("a turn that does not fit is refused and the conversation goes on")
{
    const TinyModel model;
    const CliRun run
        = model.run({ "chat", "--greedy", "--no-thinking", "--context", "64", "--max-tokens", "3" },
                    std::string(500, '#') + "\nhello\n");
    CHECK(run.status == 0);
    CHECK(isOneLine(run.error));
    CHECK(run.error.find("maximum context length") != std::string::npos);
    CHECK(!run.output.empty());
}

TEST_CASE("signals end an answer that runs")
{
    const TinyModel model(endless());
    for (const int signal : { SIGINT, SIGTERM }) {
        bool isSent = false;
        const auto sendOnce = [&](const std::string &output) {
            if (output.empty() || isSent)
                return 0;
            isSent = true;
            return signal;
        };
        const CliRun run
            = runCli({ .arguments = model.with({ "generate", "--raw", "--prompt", "a" }),
                       .input = {},
                       .onOutput = sendOnce });
        CHECK(isSent);
        CHECK(run.status == 1);
        CHECK(run.error == "firesteel-cli: interrupted\n");
        CHECK(run.output.ends_with('\n'));
    }
}

TEST_CASE("Ctrl+C ends an answer of a chat, which then goes on")
{
    const TinyModel model(endless());
    bool isSent = false;
    const auto sendOnce = [&](const std::string &output) {
        if (output.empty() || isSent)
            return 0;
        isSent = true;
        return SIGINT;
    };
    const CliRun run = runCli({ .arguments = model.with({ "chat", "--no-thinking" }),
                                .input = "hello\n/quit\n",
                                .onOutput = sendOnce });
    CHECK(isSent);
    CHECK(run.status == 0);
    CHECK(run.error.empty());
}

TEST_CASE("a reader that leaves ends the answer without a crash")
{
    const TinyModel model(endless());
    const CliRun run = runCli({ .arguments = model.with({ "generate", "--raw", "--prompt", "a" }),
                                .input = {},
                                .onOutput = {},
                                .closesOutput = true });
    CHECK(run.status == 1);
    CHECK(isOneLine(run.error));
    CHECK(run.error.find("standard output") != std::string::npos);
}

TEST_CASE("inspect describes the model")
{
    const TinyModel model;
    const CliRun text = model.run({ "inspect" });
    CHECK(text.status == 0);
    CHECK(text.output.find("routed experts") != std::string::npos);
    const CliRun json = model.run({ "inspect", "--json", "--context", "1024" });
    CHECK(json.status == 0);
    CHECK(nlohmann::json::parse(json.output).is_object());
}

TEST_CASE(
    "synth writes a model that inspect finds complete, and says what is wrong with its options")
{
    checkUsageError({ "synth" }, "synth needs --shape NAME and --out DIR");
    checkUsageError({ "synth", "--shape", "glimmer" }, "synth needs");
    checkUsageError({ "synth", "--shape", "gpt", "--out", "x" }, "--shape: 'gpt' is unknown");
    checkUsageError({ "synth", "--shape", "glimmer", "--out", "x", "--layers", "3" },
                    "--layers: 3 layers are too few or too many for glimmer; 4 to 8 are possible");
    checkUsageError({ "generate", "--prompt", "x", "--headers-only" }, "'--headers-only'");

    const test::TemporaryFolder folder;
    const std::string out = (folder.path() / "pack").string();
    const CliRun written = runCli({ .arguments = { "synth", "--shape", "glimmer", "--out", out,
                                                   "--layers", "4", "--headers-only" },
                                    .input = {},
                                    .onOutput = {} });
    CHECK(written.status == 0);
    CHECK(written.error.empty()); // progress goes to terminals only
    CHECK(isOneLine(written.output));
    CHECK(written.output.starts_with(out + ": "));
    const CliRun inspected
        = runCli({ .arguments = { "inspect", "--model", out }, .input = {}, .onOutput = {} });
    CHECK(inspected.status == 0);
    CHECK(inspected.output.find("EXL3") != std::string::npos);
    checkUsageError({ "synth", "--shape", "glimmer", "--out", out },
                    "is there already and not an empty folder");
}

TEST_CASE("the embedded drafter makes fewer steps of the same tokens")
{
    const Words arguments = { "generate", "--prompt", "Count from 1 to 30.", "--effort", "low",
                              "--greedy", "--json" };
    const auto report = [&](Words more) {
        more.insert(more.begin(), arguments.begin(), arguments.end());
        const CliRun run = runCli({ .arguments = more, .input = {}, .onOutput = {} });
        REQUIRE(run.status == 0);
        return nlohmann::json::parse(run.output);
    };
    const auto plain = report({ "--k", "0" });
    const auto drafted = report({ "--k", "7", "--drafter", "dflash2" });
    CHECK(drafted.at("drafter") == "DFlash2");
    CHECK(drafted.at("tokens") == plain.at("tokens"));
    CHECK(plain.at("drafting").at("drafted") == 0);
    CHECK(2 * drafted.at("drafting").at("steps").get<int>()
          < plain.at("drafting").at("steps").get<int>());
}
