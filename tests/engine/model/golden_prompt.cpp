// SPDX-License-Identifier: MIT
#include "tests/engine/model/golden_prompt.h"

#include "tests/support/golden.h"
#include "tests/support/model_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

namespace firesteel::test {

namespace {

struct Margin
{
    std::int32_t best = 0;
    double margin = 0; // best minus second best
};

Margin topMargin(std::span<const float> row)
{
    Margin result { .best = argmax(row), .margin = INFINITY };
    for (std::size_t n = 0; n < row.size(); ++n)
        if (n != static_cast<std::size_t>(result.best))
            result.margin = std::min(result.margin,
                                     static_cast<double>(row[static_cast<std::size_t>(result.best)])
                                         - static_cast<double>(row[n]));
    return result;
}

// Greedy tokens through single-row decode steps, compared with the golden ones: identical while the
// margin exceeds twice the bound, teacher-forced (the golden token is fed) after the first smaller
// margin.
void checkGreedy(LoadedModel &m, engine::SequenceState &sequence, std::vector<float> row,
                 std::span<const std::int32_t> expected, double bound)
{
    int undecided = 0;
    const std::size_t count = std::min<std::size_t>(expected.size(), 64);
    for (std::size_t i = 0; i < count; ++i) {
        const Margin top = topMargin(row);
        if (top.margin > 2 * bound)
            CHECK_MESSAGE(top.best == expected[i], "token " << i);
        else
            ++undecided;
        row = m.decode(sequence, { &expected[i], 1 });
        sequence.commit(1);
    }
    MESSAGE(count << " greedy tokens, " << undecided << " within the bound");
    CHECK(undecided <= 1 + static_cast<int>(count) / 50); // under 2 %, one allowed in a short text
}

} // namespace

void checkPrompt(LoadedModel &m, const std::filesystem::path &file)
{
    const auto golden = readGolden(file);
    const std::vector<std::int32_t> &ids = golden.at("input_ids").ints;
    const std::size_t vocabulary = m.vocabulary();
    engine::SequenceState sequence = m.model->newSequence(static_cast<int>(ids.size()) + 64);
    const std::vector<float> logits = m.prefill(sequence, ids, ids.size());
    const double bound = logitTolerance(m.checkpoint);

    const GoldenTensor &last = golden.at("logits_last8_fp32");
    const Difference difference = compare(std::span(logits).last(last.values.size()), last.values);
    MESSAGE("largest logit difference " << difference.largest << ", bound " << bound
                                        << ", largest logit " << difference.reference);
    CHECK(difference.largest <= bound);

    // Every position: the golden's 32 best, and the winner wherever the golden's margin decides it.
    const GoldenTensor &topValues = golden.at("top32_values_fp32");
    const GoldenTensor &topIds = golden.at("top32_ids_fp32");
    int undecided = 0;
    double worst = 0;
    for (std::size_t t = 0; t < ids.size(); ++t) {
        const std::span<const float> row = std::span(logits).subspan(t * vocabulary, vocabulary);
        for (std::size_t i = 0; i < 32; ++i)
            worst = std::max(
                worst,
                std::abs(static_cast<double>(row[static_cast<std::size_t>(topIds.ints[t * 32 + i])])
                         - static_cast<double>(topValues.values[t * 32 + i])));
        const double margin = static_cast<double>(topValues.values[t * 32])
            - static_cast<double>(topValues.values[t * 32 + 1]);
        if (margin > 2 * bound)
            CHECK_MESSAGE(argmax(row) == topIds.ints[t * 32], "position " << t);
        else
            ++undecided;
    }
    CHECK(worst <= bound);
    MESSAGE(ids.size() << " positions, " << undecided << " with a margin within the bound");
    CHECK(undecided
          <= 1 + static_cast<int>(ids.size()) / 50); // under 2 %, one allowed in a short text

    checkGreedy(m, sequence,
                { logits.end() - static_cast<std::ptrdiff_t>(vocabulary), logits.end() },
                golden.at("greedy_fp32").ints, bound);
}

} // namespace firesteel::test
