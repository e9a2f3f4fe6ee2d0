// SPDX-License-Identifier: MIT
//
// How close a model's predictions are to another's: what `firesteel-cli eval` reports. All sums are
// float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

struct Agreement
{
    std::size_t positions = 0;
    double topOne = 0; // part of the positions where both have the same likeliest token
    double meanDivergence = 0; // KL(teacher || model) over the whole vocabulary, in nats
    double divergence99 = 0; // its 99th percentile (nearest rank)
    double teacherPerplexity = 0; // exp of the mean of -log p(the text's next token)
    double modelPerplexity = 0;
};

class AgreementMeter
{
public:
    // One position: logits over the vocabulary, and the token that the text continues with.
    void add(std::span<const float> teacher, std::span<const float> model, std::int32_t next);

    Agreement result() const; // zeros without a position

private:
    std::vector<double> m_divergences;
    std::size_t m_sameTop = 0;
    double m_teacherSurprise = 0;
    double m_modelSurprise = 0;
};

} // namespace firesteel::engine
