// SPDX-License-Identifier: MIT
//
// Several requests on one engine, as clients see them: tokens per second of the wall clock for 1,
// 2, 4 and 8 requests that are submitted together; what a running answer keeps of its speed while a
// long prompt is read; time to the first token, cold and warm; tokens that a chat of 20 turns reads
// again. JSON on standard output.
#include "engine/api/engine.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

using namespace firesteel::engine;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

namespace {

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Options
{
    std::filesystem::path model;
    int context = 8192;
    int longPrompt = 6000; // tokens
    int tokens = 128; // of an answer
};

Options parse(std::span<char *const> arguments)
{
    Options options;
    for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
        const std::string_view name = arguments[i];
        const std::string_view value = arguments[i + 1];
        const auto number = [&] {
            int parsed = 0;
            if (std::from_chars(value.data(), value.data() + value.size(), parsed).ec != std::errc()
                || parsed < 1)
                throw std::runtime_error(std::format("{} {}: not a number", name, value));
            return parsed;
        };
        if (name == "--model")
            options.model = value;
        else if (name == "--context")
            options.context = number();
        else if (name == "--long")
            options.longPrompt = number();
        else if (name == "--tokens")
            options.tokens = number();
        else
            throw std::runtime_error(std::format("{}: unknown", name));
    }
    if (options.model.empty())
        options.model = firesteel::test::embeddedModelDirectory();
    return options;
}

struct Answer
{
    std::future<Finished> end;
    std::shared_ptr<std::atomic<int>> tokens = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::string> text = std::make_shared<std::string>();
    std::shared_ptr<std::string> thinking = std::make_shared<std::string>();
};

class Bench
{
public:
    explicit Bench(Options options)
        : m_options(std::move(options))
        , m_engine(createEngine({}))
    {
    }

    // Anew: nothing is remembered.
    void load(int sequences)
    {
        std::promise<Result<ModelInfo>> loaded;
        LoadOptions options;
        options.modelDirectory = m_options.model;
        options.contextTokens = m_options.context;
        options.sequences = sequences;
        m_engine->load(options, [&](const LoadEvent &event) {
            if (const auto *error = std::get_if<Error>(&event))
                loaded.set_value(std::unexpected(*error));
            else if (const auto *info = std::get_if<ModelInfo>(&event))
                loaded.set_value(*info);
        });
        const auto result = loaded.get_future().get();
        if (!result)
            throw std::runtime_error(result.error().message);
        m_info = *result;
    }

    const ModelInfo &info() const { return m_info; }

    // `length` tokens that no other variant begins with; an answer that nothing ends early.
    GenerationRequest noise(int length, int tokens, int variant) const
    {
        GenerationRequest request;
        for (int i = 0; i < length; ++i)
            request.prompt.tokens.push_back(
                static_cast<std::int32_t>((i * 31 + variant * 17 + i * i % 13) % 250));
        request.prompt.startsInThinking = false;
        request.prompt.lastUserTurn = request.prompt.tokens.size();
        request.sampling.temperature = 100.0F;
        request.sampling.seed = static_cast<std::uint64_t>(variant);
        for (std::int32_t id = 256; id < m_info.vocabularySize; ++id)
            request.sampling.logitBias.emplace_back(id, -100.0F); // ends of turns among them
        request.maxTokens = tokens;
        request.drafting.drafter = DrafterKind::None;
        return request;
    }

    Answer ask(GenerationRequest request)
    {
        Answer answer;
        const auto end = std::make_shared<std::promise<Finished>>();
        answer.end = end->get_future();
        const auto sink = [end, tokens = answer.tokens, text = answer.text,
                           thinking = answer.thinking](RequestId, const GenerationEvent &event) {
            if (const auto *delta = std::get_if<TextDelta>(&event)) {
                *tokens += delta->tokens;
                *text += delta->text;
            } else if (const auto *thought = std::get_if<ThinkingDelta>(&event)) {
                *tokens += thought->tokens;
                *thinking += thought->text;
            } else if (const auto *finished = std::get_if<Finished>(&event)) {
                end->set_value(*finished);
            } else if (const auto *failed = std::get_if<Failed>(&event)) {
                end->set_exception(
                    std::make_exception_ptr(std::runtime_error(failed->error.message)));
            }
        };
        if (const auto id = m_engine->submit(std::move(request), sink); !id)
            throw std::runtime_error(id.error().message);
        return answer;
    }

    Json atOnce(int requests)
    {
        load(kMaxSequences);
        const Clock::time_point begin = Clock::now();
        std::vector<Answer> answers;
        for (int i = 0; i < requests; ++i)
            answers.push_back(ask(noise(64, m_options.tokens, i + 1)));
        int tokens = 0;
        double firstToken = 0;
        for (Answer &answer : answers) {
            const Finished finished = answer.end.get();
            tokens += finished.usage.completionTokens;
            firstToken = std::max(firstToken, finished.timings.timeToFirstTokenSeconds);
        }
        const double seconds = secondsSince(begin);
        return { { "requests", requests },
                 { "tokens", tokens },
                 { "seconds", seconds },
                 { "tokens_per_second", tokens / seconds },
                 { "latest_first_token_seconds", firstToken } };
    }

    Json besideLongPrompt()
    {
        load(2);
        const auto rate = [&](Answer &running, auto isOver) {
            const int before = *running.tokens;
            const Clock::time_point begin = Clock::now();
            while (!isOver(begin))
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            return (*running.tokens - before) / secondsSince(begin);
        };
        Answer running = ask(noise(64, m_options.context - 1024, 1));
        while (*running.tokens < 20)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const double alone
            = rate(running, [](Clock::time_point begin) { return secondsSince(begin) > 3; });
        Answer reading = ask(noise(m_options.longPrompt, 1, 2));
        const double beside = rate(running, [&](Clock::time_point) {
            return reading.end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
        const Finished read = reading.end.get();
        const bool isRunning
            = running.end.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
        return { { "prompt_tokens", m_options.longPrompt },
                 { "alone_tokens_per_second", alone },
                 { "beside_tokens_per_second", beside },
                 { "kept", beside / alone },
                 { "ran_all_the_time", isRunning },
                 { "prefill_seconds", read.timings.prefillSeconds } };
    }

    Json firstToken()
    {
        load(1);
        const Finished cold = ask(noise(m_options.longPrompt, 1, 1)).end.get();
        const Finished warm = ask(noise(m_options.longPrompt, 1, 1)).end.get();
        return { { "prompt_tokens", m_options.longPrompt },
                 { "cold_seconds", cold.timings.timeToFirstTokenSeconds },
                 { "warm_seconds", warm.timings.timeToFirstTokenSeconds },
                 { "warm_read_tokens", warm.usage.promptTokens - warm.usage.cachedTokens } };
    }

    // Twenty turns, then the tenth asked anew.
    Json chat()
    {
        load(2);
        constexpr int kTurns = 20;
        constexpr int kEdited = 10;
        std::vector<Message> messages;
        Json turns = Json::array();
        const auto turn = [&](const std::string &question) {
            const auto own = m_engine->countTokens(question);
            messages.push_back(Message::text(Role::User, question));
            auto prompt = m_engine->prepare(messages, {}, {});
            if (!prompt)
                throw std::runtime_error(prompt.error().message);
            GenerationRequest request;
            request.prompt = std::move(*prompt);
            request.sampling.temperature = 0;
            request.maxTokens = m_options.tokens;
            Answer answer = ask(std::move(request));
            const Finished finished = answer.end.get();
            Message reply = Message::text(Role::Assistant, *answer.text);
            reply.reasoning = *answer.thinking;
            reply.tokens = finished.tokens;
            messages.push_back(std::move(reply));
            turns.push_back(
                { { "prompt", finished.usage.promptTokens },
                  { "question", own.value_or(0) },
                  { "read", finished.usage.promptTokens - finished.usage.cachedTokens },
                  { "first_token_seconds", finished.timings.timeToFirstTokenSeconds } });
        };
        for (int i = 1; i <= kTurns; ++i)
            turn(std::format("Count from {} to {}.", i, i + 9));
        Json result { { "turns", std::exchange(turns, Json::array()) } };
        messages.resize(2 * (kEdited - 1));
        turn("Count down from 30 to 21.");
        result["turn_10_changed"] = turns[0];
        return result;
    }

private:
    Options m_options;
    std::unique_ptr<Engine> m_engine;
    ModelInfo m_info;
};

} // namespace

int main(int argc, char **argv)
try {
    Bench bench(parse({ argv, static_cast<std::size_t>(argc) }));
    Json result;
    for (const int requests : { 1, 2, 4, 8 })
        result["at_once"].push_back(bench.atOnce(requests));
    result["beside_a_long_prompt"] = bench.besideLongPrompt();
    result["first_token"] = bench.firstToken();
    result["chat"] = bench.chat();
    result["model"] = bench.info().name;
    result["backend"] = bench.info().backend;
    std::puts(result.dump(1).c_str());
    return EXIT_SUCCESS;
} catch (const std::exception &error) {
    std::fprintf(stderr, "bench_serve: %s\n", error.what());
    return EXIT_FAILURE;
}
