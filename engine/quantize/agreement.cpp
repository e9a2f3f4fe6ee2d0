// SPDX-License-Identifier: MIT
#include "engine/quantize/agreement.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace firesteel::engine {

namespace {

// log of the sum of exp(logits), shifted by the largest so that nothing overflows.
double logSum(std::span<const float> logits)
{
    const double largest = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - largest);
    return largest + std::log(sum);
}

} // namespace

void AgreementMeter::add(std::span<const float> teacher, std::span<const float> model,
                         std::int32_t next)
{
    if (teacher.size() != model.size() || next < 0
        || static_cast<std::size_t>(next) >= teacher.size())
        throw std::logic_error("AgreementMeter: the vocabularies or the token do not fit");
    const double teacherSum = logSum(teacher);
    const double modelSum = logSum(model);
    double divergence = 0;
    for (std::size_t i = 0; i < teacher.size(); ++i) {
        const double logTeacher = static_cast<double>(teacher[i]) - teacherSum;
        const double logModel = static_cast<double>(model[i]) - modelSum;
        divergence += std::exp(logTeacher) * (logTeacher - logModel);
    }
    m_divergences.push_back(divergence);
    if (std::ranges::max_element(teacher) - teacher.begin()
        == std::ranges::max_element(model) - model.begin())
        ++m_sameTop;
    const auto at = static_cast<std::size_t>(next);
    m_teacherSurprise += teacherSum - static_cast<double>(teacher[at]);
    m_modelSurprise += modelSum - static_cast<double>(model[at]);
}

Agreement AgreementMeter::result() const
{
    Agreement result { .positions = m_divergences.size() };
    if (m_divergences.empty())
        return result;
    const auto count = static_cast<double>(m_divergences.size());
    double sum = 0;
    for (const double divergence : m_divergences)
        sum += divergence;
    result.topOne = static_cast<double>(m_sameTop) / count;
    result.meanDivergence = sum / count;
    std::vector<double> sorted = m_divergences;
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(0.99 * count)) - 1;
    std::ranges::nth_element(sorted, sorted.begin() + rank);
    result.divergence99 = sorted[static_cast<std::size_t>(rank)];
    result.teacherPerplexity = std::exp(m_teacherSurprise / count);
    result.modelPerplexity = std::exp(m_modelSurprise / count);
    return result;
}

} // namespace firesteel::engine
