// SPDX-License-Identifier: MIT
//
// Whatever is drafted, a request gives the tokens, events' text and state of an undrafted one: all
// drafts right, all wrong, alternating, random; under penalties, stop strings, end-of-turn ids and
// limits inside an accepted run.
#include "engine/serve/active_request.h"
#include "tests/support/loaded_model.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

namespace {

constexpr int kContext = 200;

using Ids = std::vector<std::int32_t>;
// The drafts after `known` tokens of an answer.
using Script = std::function<Ids(std::size_t known)>;

struct Outcome
{
    Finished finished;
    std::string text;
    Ids committed; // the sequence's tokens
    std::vector<float> next; // logits of one more token in that sequence
};

class Requests
{
public:
    Requests()
    {
        test::writeTinyCheckpoint(m_folder.path());
        m_model = std::make_unique<test::LoadedModel>(m_folder.path());
        auto tokenizer = Tokenizer::load(m_folder / "tokenizer.json");
        if (!tokenizer)
            FAIL(tokenizer.error().message);
        ModelInfo info;
        info.contextTokens = kContext;
        info.vocabularySize = m_model->model->shape().vocabularySize;
        m_facts = std::make_shared<const ModelFacts>(
            std::move(*tokenizer), info, m_model->model->shape().eosTokenIds, LoadedSize {});
    }

    Outcome run(const GenerationRequest &request, const Script &script)
    {
        Outcome outcome;
        QueuedRequest queued;
        queued.request = request;
        queued.sink = [&](RequestId, const GenerationEvent &event) {
            if (const auto *text = std::get_if<TextDelta>(&event))
                outcome.text += text->text;
            else if (const auto *finished = std::get_if<Finished>(&event))
                outcome.finished = *finished;
        };
        SequenceState sequence = m_model->model->newSequence(kContext);
        ActiveRequest active(std::move(queued), m_facts, 0, sequence);
        std::vector<float> logits(m_model->vocabulary());
        m_model->model->prefill(sequence, active.promptLeft(), logits);
        active.prefilled(active.promptTokens());
        active.acceptFirst(logits);
        while (!active.hasEnded()) {
            Ids drafts = script(static_cast<std::size_t>(active.usage().completionTokens));
            drafts.resize(std::min(drafts.size(), static_cast<std::size_t>(active.draftLimit())));
            active.setDrafts(DrafterKind::Dflash2, drafts);
            logits.resize(active.stepTokens().size() * m_model->vocabulary());
            const DecodeRows rows { &sequence, active.stepTokens() };
            m_model->model->decode({ &rows, 1 }, logits);
            active.accept(logits);
        }
        outcome.committed.assign(sequence.tokens().begin(), sequence.tokens().end());
        if (sequence.position() < kContext) {
            const Ids token { 7 };
            outcome.next = m_model->decode(sequence, token);
        }
        return outcome;
    }

    // Every kind of script gives what no drafts give.
    void check(const GenerationRequest &request)
    {
        const Outcome plain = run(request, [](std::size_t) { return Ids(); });
        const Ids &answer = plain.finished.tokens;
        const auto right = [&](std::size_t known, std::size_t count) {
            Ids ids;
            for (std::size_t i = known; i < answer.size() && ids.size() < count; ++i)
                ids.push_back(answer[i]);
            return ids;
        };
        const auto wrong = [](Ids ids) {
            for (std::int32_t &id : ids)
                id = (id + 1) % 270;
            return ids;
        };
        test::RandomValues random(5);
        const std::pair<const char *, Script> scripts[] = {
            { "all right", [&](std::size_t known) { return right(known, kMaxDrafts); } },
            { "right, then beyond the end",
              [&](std::size_t known) {
                  Ids ids = right(known, kMaxDrafts);
                  ids.resize(kMaxDrafts, 3);
                  return ids;
              } },
            { "all wrong", [&](std::size_t known) { return wrong(right(known, kMaxDrafts)); } },
            { "alternating",
              [&](std::size_t known) {
                  Ids ids = right(known, 5);
                  return known % 2 == 0 ? ids : wrong(std::move(ids));
              } },
            { "wrong from a random place on",
              [&](std::size_t known) {
                  Ids ids = right(known, 1 + random.bits() % kMaxDrafts);
                  const std::size_t from = random.bits() % (ids.size() + 1);
                  for (std::size_t i = from; i < ids.size(); ++i)
                      ids[i] = static_cast<std::int32_t>(random.bits() % 270);
                  return ids;
              } },
        };
        for (const auto &[name, script] : scripts) {
            CAPTURE(name);
            const Outcome drafted = run(request, script);
            CHECK(drafted.finished.tokens == answer);
            CHECK(drafted.finished.reason == plain.finished.reason);
            CHECK(drafted.finished.usage.completionTokens == plain.finished.usage.completionTokens);
            CHECK(drafted.text == plain.text);
            CHECK(drafted.committed == plain.committed);
            CHECK(drafted.next == plain.next); // bit for bit: the state is the same
            const DraftCounts &counts = drafted.finished.drafting;
            CHECK(counts.accepted <= counts.drafted);
            if (std::string(name) == "all right" && answer.size() > 20)
                CHECK(counts.steps <= static_cast<int>(answer.size()) / 8 + 1);
        }
    }

private:
    test::TemporaryFolder m_folder;
    std::unique_ptr<test::LoadedModel> m_model;
    std::shared_ptr<const ModelFacts> m_facts;
};

GenerationRequest requestOf(int promptTokens, float temperature)
{
    GenerationRequest request;
    for (int i = 0; i < promptTokens; ++i)
        request.prompt.tokens.push_back((i * 31 + i * i % 13) % 250);
    request.prompt.startsInThinking = false;
    request.sampling.temperature = temperature;
    request.sampling.seed = 11;
    request.maxTokens = 60;
    return request;
}

} // namespace

TEST_CASE("drafts never change tokens, text or state")
{
    Requests requests;
    for (const float temperature : { 0.0F, 0.7F, 1.0F, 1.5F }) {
        CAPTURE(temperature);
        requests.check(requestOf(70, temperature));
    }
}

TEST_CASE("drafts never change sampling with penalties, cuts and biases")
{
    Requests requests;
    GenerationRequest request = requestOf(30, 0.9F);
    request.sampling.repetitionPenalty = 1.3F;
    request.sampling.presencePenalty = 0.5F;
    request.sampling.frequencyPenalty = 0.7F;
    request.sampling.topP = 0.9F;
    request.sampling.topK = 40;
    request.sampling.minP = 0.01F;
    request.sampling.logitBias = { { 5, 3.0F }, { 9, -100.0F } };
    requests.check(request);
}

TEST_CASE("an end inside an accepted run ends there")
{
    Requests requests;
    GenerationRequest request = requestOf(50, 1.0F);
    const Outcome plain = requests.run(request, [](std::size_t) { return Ids(); });
    REQUIRE(plain.text.size() > 30);
    SUBCASE("at a stop string")
    {
        request.stop = { plain.text.substr(20, 4) };
        const Outcome stopped = requests.run(request, [](std::size_t) { return Ids(); });
        REQUIRE(stopped.finished.reason == FinishReason::StopString);
        requests.check(request);
    }
    SUBCASE("at an end-of-turn id")
    {
        // Likely enough to come within a few tokens.
        request.sampling.logitBias = { { test::tinyShape().eosTokenIds.front(), 6.0F } };
        const Outcome ended = requests.run(request, [](std::size_t) { return Ids(); });
        REQUIRE(ended.finished.reason == FinishReason::Stop);
        requests.check(request);
    }
    SUBCASE("at every number of tokens")
    {
        for (const int tokens : { 1, 2, 3, 7, 8, 9, 10, 17 }) {
            request.maxTokens = tokens;
            requests.check(request);
        }
    }
    SUBCASE("at the end of the context")
    {
        request = requestOf(kContext - 13, 1.0F);
        request.maxTokens.reset();
        requests.check(request);
    }
}
