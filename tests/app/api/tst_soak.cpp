// SPDX-License-Identifier: MIT
//
// Many clients at once on a real engine with a tiny model: whatever comes and goes beside a
// request, its answer is the one it gets alone.
#include "tests/app/api/api_fixture.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <format>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

constexpr int kClients = 8;
constexpr int kKinds = 24; // different requests

// An engine with the tiny model ready.
class TinyEngine
{
public:
    TinyEngine()
        : m_engine(engine::createEngine([](auto, auto, auto) { }))
    {
        writeTinyCheckpoint(m_folder.path());
        engine::LoadOptions options;
        options.modelDirectory = m_folder.path();
        options.contextTokens = 512;
        options.threads = 2;
        options.memoryReserveBytes = 0;
        std::promise<bool> loaded;
        m_engine->load(options, [&](const engine::LoadEvent &event) {
            if (!std::holds_alternative<engine::LoadProgress>(event))
                loaded.set_value(std::holds_alternative<engine::ModelInfo>(event));
        });
        REQUIRE(loaded.get_future().get());
    }
    engine::Engine &operator*() { return *m_engine; }

private:
    TemporaryFolder m_folder;
    std::unique_ptr<engine::Engine> m_engine;
};

// Short and long prompts and answers, sampled with a seed; control tokens are banned, since a
// random model would write calls, whose ids differ from run to run.
std::string bodyOf(int kind, bool isStream)
{
    std::string prompt;
    for (int i = kind * 7 % 90; i >= 0; --i)
        prompt += std::format("{} ", (i * kind) % 97);
    app::Json body { { "messages", { { { "role", "user" }, { "content", prompt } } } },
                     { "seed", kind },
                     { "temperature", kind % 3 },
                     { "max_tokens", kind % 5 == 0 ? 90 : 1 + kind % 23 },
                     { "reasoning_effort", kind % 2 == 0 ? "none" : "low" },
                     { "stream", isStream } };
    for (std::int32_t id = 0; id < 36; ++id)
        body["logit_bias"][std::to_string(kTinyFirstAddedToken + id)] = -100;
    if (kind % 4 == 1)
        body["stop"] = { "e", "17" };
    return app::toText(body);
}

struct Said
{
    std::string thinking;
    std::string text;
    std::string reason;

    bool operator==(const Said &) const = default;
};

Said saidBy(const RawAnswer &answer, bool isStream)
{
    Said said;
    const auto add = [&said](const app::Json &choice, const char *part) {
        said.thinking += choice[part].value("reasoning_content", "");
        if (choice[part].contains("content") && choice[part]["content"].is_string())
            said.text += choice[part]["content"].get<std::string>();
        if (choice["finish_reason"].is_string())
            said.reason = choice["finish_reason"].get<std::string>();
    };
    if (!isStream) {
        add(parsed(answer.body)["choices"][0], "message");
        return said;
    }
    for (const app::Json &event : eventsOf(answer.body))
        add(event["choices"][0], "delta");
    return said;
}

std::size_t openFiles()
{
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

long residentKibibytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmRSS:") {
            long size = 0;
            status >> size;
            return size;
        }
    }
    return 0;
}

int requestsPerClient()
{
    const char *count = std::getenv("FIRESTEEL_API_REQUESTS");
    return count != nullptr ? std::atoi(count) : 12;
}

struct Counts
{
    std::atomic<int> whole = 0;
    std::atomic<int> cut = 0;
    std::atomic<int> wrong = 0;
};

void beClient(int port, unsigned int seed, const std::vector<Said> &alone, Counts &counts)
{
    std::mt19937 random(seed);
    const auto upTo = [&](int most) { return std::uniform_int_distribution(1, most)(random); };
    for (int i = requestsPerClient(); i > 0; --i) {
        const int kind = upTo(kKinds) - 1;
        const bool isStream = upTo(2) == 1;
        RawClient connection(port);
        connection.send(postOf("/v1/chat/completions", bodyOf(kind, isStream)));
        if (upTo(3) == 1) {
            // At once, or after a part of the answer.
            if (const int bytes = upTo(800); bytes > 300)
                connection.readSome(static_cast<std::size_t>(bytes - 300));
            ++counts.cut;
            continue;
        }
        const RawAnswer answer = connection.read();
        const bool isRight = answer.status == 200
            && saidBy(answer, isStream) == alone[static_cast<std::size_t>(kind)];
        ++(isRight ? counts.whole : counts.wrong);
    }
}

} // namespace

TEST_CASE("soak: eight clients on a real engine, a third of them cut off, answers as alone")
{
    TinyEngine engine;
    Served served(*engine);
    std::vector<Said> alone;
    for (int kind = 0; kind < kKinds; ++kind) {
        const RawAnswer answer
            = post(served.port(), "/v1/chat/completions", bodyOf(kind, kind % 2 == 0));
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        alone.push_back(saidBy(answer, kind % 2 == 0));
        if (kind % 4 != 1) // no stop strings
            CHECK(alone.back().reason == "length");
    }
    served.waitUntilIdle();
    const std::size_t filesBefore = openFiles();
    const long memoryBefore = residentKibibytes();
    const auto began = std::chrono::steady_clock::now();
    Counts counts;
    std::vector<std::thread> threads;
    for (unsigned int seed = 1; seed <= kClients; ++seed)
        threads.emplace_back([&, seed] { beClient(served.port(), seed, alone, counts); });
    for (std::thread &thread : threads)
        thread.join();
    const int requests = kClients * requestsPerClient();
    CHECK(counts.wrong == 0);
    CHECK(counts.whole + counts.cut == requests);
    CHECK(counts.whole > 0);
    CHECK(counts.cut > 0);
    // Each was answered or logged as gone, and no sequence is held. A client that went away is
    // logged before the engine has heard of it.
    const auto records = served.ended(static_cast<std::size_t>(requests + kKinds));
    CHECK(records.size() == static_cast<std::size_t>(requests + kKinds));
    served.waitFor([&] { return (*engine).stats().requests.empty(); });
    served.waitFor([&] { return (*engine).stats().usedTokens == 0; });
    served.waitFor([&] { return openFiles() <= filesBefore; }); // connections that lingered
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    MESSAGE(requests, " requests in ", seconds.count(), " s: ", counts.whole.load(), " whole, ",
            counts.cut.load(), " cut off; resident memory ", memoryBefore, " to ",
            residentKibibytes(), " KiB");
}
