// SPDX-License-Identifier: MIT
//
// The exactness classes of the design as properties, on a random model and, where it is there, on
// Glimmer:
//   E1  decode: a row's bits depend neither on drafts nor on other sequences nor on threads
//   E2  prefill: chunks of any multiple of 64 give the same bits
//   E3  snapshots: bit-exact at 64-aligned positions made by prefill; close where decode made them
//   E4  odd chunks equal the whole within the rounding bound
#include "engine/state/sequence_memory.h"
#include "tests/support/golden.h"
#include "tests/support/loaded_model.h"
#include "tests/support/model_bound.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <doctest/doctest.h>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;
using engine::SequenceState;

namespace {

// The random model, written and loaded once.
LoadedModel &tinyModel()
{
    static const TemporaryFolder folder;
    static LoadedModel model = [] {
        writeTinyCheckpoint(folder.path());
        return LoadedModel(folder.path(), 3);
    }();
    return model;
}

std::vector<std::int32_t> randomTokens(LoadedModel &m, std::size_t count, std::uint64_t seed)
{
    RandomValues random(seed);
    std::vector<std::int32_t> tokens(count);
    for (std::int32_t &token : tokens)
        token = random.integer(0, m.model->shape().vocabularySize - 1);
    return tokens;
}

std::span<const float> row(LoadedModel &m, const std::vector<float> &logits, std::size_t index)
{
    return std::span(logits).subspan(index * m.vocabulary(), m.vocabulary());
}

bool sameBits(std::span<const float> a, std::span<const float> b)
{
    return std::ranges::equal(a, b); // no NaN passes, and -0 does not occur where 0 would matter
}

bool sameState(SequenceState &a, SequenceState &b, LoadedModel &m)
{
    const auto same = [&](const auto &left, const auto &right) {
        return left.toHost(m.stream) == right.toHost(m.stream);
    };
    if (a.recordedRows() != b.recordedRows())
        return false;
    int kda = 0;
    int mla = 0;
    for (const engine::AttentionKind kind : m.model->shape().attention) {
        if (kind == engine::AttentionKind::Kda) {
            const engine::KdaState &left = a.kda(kda);
            const engine::KdaState &right = b.kda(kda++);
            if (!same(left.state, right.state) || !same(left.window, right.window))
                return false;
            // Records beyond those that count are garbage.
            const std::vector<float> recorded = left.recordedU.toHost(m.stream);
            const std::size_t counted = recorded.size() / engine::kMaxDecodeRows
                * static_cast<std::size_t>(a.recordedRows());
            const std::vector<float> others = right.recordedU.toHost(m.stream);
            if (!sameBits(std::span(recorded).first(counted), std::span(others).first(counted)))
                return false;
            continue;
        }
        const std::size_t used = a.mla(mla).latents().size()
            / static_cast<std::size_t>(a.contextTokens()) * static_cast<std::size_t>(a.position());
        const auto left = a.mla(mla).latents().toHost(m.stream);
        const auto right = b.mla(mla++).latents().toHost(m.stream);
        if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(used),
                        right.begin()))
            return false;
    }
    return std::ranges::equal(a.tokens(), b.tokens());
}

// Greedy decoding, one row a step: the logits of every step and the tokens they chose.
struct Plain
{
    std::vector<std::int32_t> tokens;
    std::vector<std::vector<float>> logits; // logits[i] chose tokens[i + 1]
};

Plain decodePlainly(LoadedModel &m, SequenceState sequence, std::int32_t first, int steps)
{
    Plain result { .tokens = { first }, .logits = {} };
    for (int i = 0; i < steps; ++i) {
        result.logits.push_back(m.decode(sequence, { &result.tokens.back(), 1 }));
        sequence.commit(1);
        result.tokens.push_back(argmax(result.logits.back()));
    }
    return result;
}

enum class Script { Right, Wrong, Alternating, Random };

// Decoding with a scripted drafter: each step verifies the pending token and some drafts, keeps the
// right ones.
void checkDrafted(LoadedModel &m, SequenceState sequence, const Plain &plain, Script script,
                  std::uint64_t seed)
{
    RandomValues random(seed);
    const std::size_t steps = plain.logits.size();
    int wrong = 0;
    for (std::size_t done = 0; done < steps;) {
        const auto drafts = static_cast<std::size_t>(random.integer(
            0, std::min<int>(engine::kMaxDecodeRows, static_cast<int>(steps - done)) - 1));
        std::vector<std::int32_t> rows { plain.tokens[done] };
        std::size_t accepted = 1;
        for (std::size_t i = 1; i <= drafts; ++i) {
            const bool right = script == Script::Right
                || (script == Script::Alternating && i % 2 == 1)
                || (script == Script::Random && random.integer(0, 2) > 0);
            const std::int32_t truth = plain.tokens[done + i];
            rows.push_back(right ? truth : (truth + 1) % m.model->shape().vocabularySize);
            if (right && accepted == i)
                ++accepted;
        }
        const std::vector<float> logits = m.decode(sequence, rows);
        for (std::size_t i = 0; i < accepted; ++i)
            wrong += sameBits(row(m, logits, i), plain.logits[done + i]) ? 0 : 1;
        sequence.commit(static_cast<int>(accepted));
        done += accepted;
    }
    CHECK(wrong == 0);
}

void checkE1(LoadedModel &m, std::size_t promptLength, int steps)
{
    const std::vector<std::int32_t> prompt = randomTokens(m, promptLength, 5);
    SequenceState start = m.model->newSequence(static_cast<int>(promptLength) + steps + 16);
    m.prefill(start, prompt);
    const Plain plain = decodePlainly(m, start.fork(), 7, steps);
    std::uint64_t seed = 1;
    for (const Script script :
         { Script::Right, Script::Wrong, Script::Alternating, Script::Random })
        for (int repeat = 0; repeat < 3; ++repeat)
            checkDrafted(m, start.fork(), plain, script, ++seed);
}

// Eight sequences of different lengths with 1 to 9 rows each, together and alone.
void checkBatch(LoadedModel &m, LoadedModel &otherThreads)
{
    RandomValues random(9);
    std::deque<SequenceState> together, alone;
    std::vector<std::vector<std::int32_t>> rows;
    for (int i = 0; i < 8; ++i) {
        const std::vector<std::int32_t> prompt = randomTokens(
            m, static_cast<std::size_t>(random.integer(1, 90)), static_cast<std::uint64_t>(i));
        together.push_back(m.model->newSequence(160));
        m.prefill(together.back(), prompt);
        alone.push_back(otherThreads.model->newSequence(160));
        otherThreads.prefill(alone.back(), prompt);
    }
    for (int step = 0; step < 4; ++step) {
        std::vector<engine::DecodeRows> batch;
        rows.clear();
        for (int i = 0; i < 8; ++i)
            rows.push_back(
                randomTokens(m, step == 0 ? 9 : static_cast<std::size_t>(random.integer(1, 9)),
                             static_cast<std::uint64_t>(100 * step + i)));
        std::size_t total = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            batch.push_back({ &together[i], rows[i] });
            total += rows[i].size();
        }
        std::vector<float> logits(total * m.vocabulary());
        m.model->decode(batch, logits);
        std::size_t at = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const std::vector<float> expected = otherThreads.decode(alone[i], rows[i]);
            CHECK(sameBits(std::span(logits).subspan(at * m.vocabulary(), expected.size()),
                           expected));
            at += rows[i].size();
            const int keep = random.integer(0, static_cast<int>(rows[i].size()));
            together[i].commit(keep);
            alone[i].commit(keep);
        }
    }
}

void checkE2(LoadedModel &m, std::size_t length)
{
    const std::vector<std::int32_t> prompt = randomTokens(m, length, 3);
    SequenceState whole = m.model->newSequence(static_cast<int>(length) + 1);
    const std::vector<float> expected = m.prefill(whole, prompt, length);
    RandomValues random(4);
    for (int repeat = 0; repeat < 4; ++repeat) {
        SequenceState sequence = m.model->newSequence(static_cast<int>(length) + 1);
        std::vector<float> logits;
        for (std::size_t begin = 0; begin < length;) {
            const std::size_t count
                = std::min(length - begin, static_cast<std::size_t>(64 * random.integer(1, 4)));
            const std::vector<float> part
                = m.prefill(sequence, std::span(prompt).subspan(begin, count), count);
            logits.insert(logits.end(), part.begin(), part.end());
            begin += count;
        }
        CHECK(sameBits(logits, expected));
        CHECK(sameState(sequence, whole, m));
    }
}

// Bit-exact, at a 64-aligned position that prefill made.
void checkSnapshots(LoadedModel &m)
{
    const std::vector<std::int32_t> prompt = randomTokens(m, 200, 6);
    SequenceState cold = m.model->newSequence(300);
    const std::vector<float> expected = m.prefill(cold, prompt);

    SequenceState sequence = m.model->newSequence(300);
    m.prefill(sequence, std::span(prompt).first(128));
    const SequenceState::Snapshot snapshot = sequence.snapshot();
    SequenceState forked = sequence.fork();
    m.prefill(sequence, randomTokens(m, 50, 8)); // another continuation, then back
    const std::vector<std::int32_t> drafts = randomTokens(m, 5, 9);
    m.decode(sequence, drafts);
    sequence.commit(3);
    REQUIRE(sequence.restore(snapshot));
    CHECK(sequence.position() == 128);
    CHECK(sameBits(m.prefill(sequence, std::span(prompt).subspan(128)), expected));
    CHECK(sameState(sequence, cold, m));
    CHECK(sameBits(m.prefill(forked, std::span(prompt).subspan(128)), expected));
    CHECK(sameState(forked, cold, m));
}

void checkE3(LoadedModel &m)
{
    checkSnapshots(m);
    const std::vector<std::int32_t> prompt = randomTokens(m, 200, 6);
    SequenceState cold = m.model->newSequence(300);
    const std::vector<float> expected = m.prefill(cold, prompt);

    // A state that decode made differs from prefill's in rounding only. Logits within b of each
    // other have a divergence of at most Var(difference) / 2 <= b^2 / 2, up to terms of order b^3.
    SequenceState decoded = m.model->newSequence(300);
    m.prefill(decoded, std::span(prompt).first(128));
    for (std::size_t i = 128; i < 199; ++i) {
        m.decode(decoded, { &prompt[i], 1 });
        decoded.commit(1);
    }
    const SequenceState::Snapshot late = decoded.snapshot();
    REQUIRE(decoded.restore(late));
    const std::vector<float> after = m.decode(decoded, { &prompt[199], 1 });
    double sumP = 0;
    double sumQ = 0;
    for (std::size_t n = 0; n < m.vocabulary(); ++n) {
        sumP += std::exp(static_cast<double>(expected[n]));
        sumQ += std::exp(static_cast<double>(after[n]));
    }
    double divergence = 0;
    for (std::size_t n = 0; n < m.vocabulary(); ++n) {
        const double p = std::exp(static_cast<double>(expected[n])) / sumP;
        divergence += p
            * (static_cast<double>(expected[n]) - static_cast<double>(after[n])
               + std::log(sumQ / sumP));
    }
    const double bound = logitTolerance(m.checkpoint);
    MESSAGE("KL of a decode-made state against a cold prefill: " << divergence << ", bound "
                                                                 << bound * bound / 2);
    CHECK(divergence <= bound * bound / 2);
}

void checkE4(LoadedModel &m)
{
    const std::vector<std::int32_t> prompt = randomTokens(m, 150, 12);
    SequenceState whole = m.model->newSequence(160);
    const std::vector<float> expected = m.prefill(whole, prompt, prompt.size());
    const double bound = logitTolerance(m.checkpoint);
    for (const std::size_t chunk : { 1, 3, 7 }) {
        SequenceState sequence = m.model->newSequence(160);
        std::vector<float> logits;
        for (std::size_t begin = 0; begin < prompt.size(); begin += chunk) {
            const std::size_t count = std::min(chunk, prompt.size() - begin);
            const std::vector<float> part
                = m.prefill(sequence, std::span(prompt).subspan(begin, count), count);
            logits.insert(logits.end(), part.begin(), part.end());
        }
        const Difference difference = compare(logits, expected);
        MESSAGE("chunks of " << chunk << ": largest logit difference " << difference.largest
                             << ", bound " << bound);
        CHECK(difference.largest <= bound);
    }
}

} // namespace

TEST_CASE("E1: drafted rows have the bits of undrafted ones (random model)")
{
    checkE1(tinyModel(), 70, 60);
}

TEST_CASE(
    "E1: batched sequences have the bits of single ones, on any number of threads (random model)")
{
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path());
    LoadedModel single(folder.path(), 1);
    checkBatch(tinyModel(), single);
}

TEST_CASE("E2: prefill chunks of multiples of 64 have the same bits (random model)")
{
    checkE2(tinyModel(), 64 * 9 + 17); // more than one internal slice
}

TEST_CASE("E3: snapshots and forks (random model)") { checkE3(tinyModel()); }

TEST_CASE("E4: odd prefill chunks stay within the bound (random model)") { checkE4(tinyModel()); }

TEST_CASE("E1 to E4 on Glimmer")
{
    if (trainedModel() == nullptr)
        return;
    checkE1(*trainedModel(), 130, 40);
    LoadedModel single(*modelDirectory(), 1);
    checkBatch(*trainedModel(), single);
    checkE2(*trainedModel(), 64 * 9 + 17);
    checkE3(*trainedModel());
    checkE4(*trainedModel());
}

TEST_CASE("a sequence refuses what would corrupt it")
{
    LoadedModel &m = tinyModel();
    SequenceState sequence = m.model->newSequence(20);
    m.prefill(sequence, randomTokens(m, 10, 1));
    CHECK_THROWS_AS(m.prefill(sequence, randomTokens(m, 11, 1)), std::logic_error); // full
    const std::vector<std::int32_t> rows = randomTokens(m, 10, 2);
    CHECK_THROWS_AS(m.decode(sequence, rows), std::logic_error); // ten rows
    m.decode(sequence, std::span(rows).first(2));
    CHECK_THROWS_AS(m.decode(sequence, std::span(rows).first(1)), std::logic_error); // pending
    CHECK_THROWS_AS(sequence.snapshot(), std::logic_error);
    CHECK_THROWS_AS(sequence.fork(), std::logic_error);
    CHECK_THROWS_AS(sequence.commit(3), std::logic_error);
    sequence.commit(0);
    CHECK(sequence.position() == 10);

    SequenceState other = m.model->newSequence(20);
    m.prefill(other, randomTokens(m, 10, 3));
    CHECK(!other.restore(sequence.snapshot()));
    CHECK(other.position() == 10);
}

TEST_CASE("sequenceMemory predicts what a sequence allocates")
{
    LoadedModel &m = tinyModel();
    const engine::SequenceMemory predicted
        = engine::sequenceMemory(m.model->shape(), 100, kernels::cacheDType(m.stream));
    SequenceState sequence = m.model->newSequence(100);
    CHECK(sequence.bytes() == predicted.total());
}

TEST_CASE("E1 to E3 on the GPU, with the embedded model")
{
    LoadedModel *m = embeddedModelOnDevice();
    if (m == nullptr)
        return;
    checkE1(*m, 130, 40); // past the context in which every token is selected
    checkBatch(*m, *m);
    checkE2(*m, 64 * 9 + 17);
    checkE2(*m, 64 * 40 + 5); // more than one pass
    checkSnapshots(*m);
}
