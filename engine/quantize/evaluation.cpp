// SPDX-License-Identifier: MIT
#include "engine/quantize/evaluation.h"

#include <algorithm>
#include <format>
#include <span>

namespace firesteel::engine {

namespace {

// Rows of logits held of each model: at most 64 MiB, at least what prefill does in one piece.
std::size_t rowsAtOnce(std::size_t vocabulary)
{
    constexpr std::size_t kBytes = 64U << 20U;
    constexpr std::size_t kLeast = Model::kPrefillAlignment;
    return std::clamp(kBytes / (vocabulary * sizeof(float)) / kLeast * kLeast, kLeast, 8 * kLeast);
}

} // namespace

Result<Agreement> evaluate(Model &teacher, Model &model,
                           const std::vector<std::vector<std::int32_t>> &windows,
                           const std::function<void(double)> &progress, const CancelToken &cancel)
{
    const auto vocabulary = static_cast<std::size_t>(teacher.shape().vocabularySize);
    if (model.shape().vocabularySize != teacher.shape().vocabularySize)
        return fail(ErrorCode::BadRequest,
                    std::format("the teacher's vocabulary has {} entries, the model's {}",
                                vocabulary, model.shape().vocabularySize));
    std::size_t total = 0;
    for (const auto &window : windows)
        total += window.size();
    const std::size_t rows = rowsAtOnce(vocabulary);
    std::vector<float> expected(rows * vocabulary);
    std::vector<float> actual(rows * vocabulary);
    AgreementMeter meter;
    std::size_t done = 0;
    for (const auto &window : windows) {
        const auto context = static_cast<int>(window.size());
        SequenceState teacherState = teacher.newSequence(context);
        SequenceState modelState = model.newSequence(context);
        for (std::size_t at = 0; at < window.size(); at += rows) {
            if (cancel.isCancelled())
                return fail(ErrorCode::Cancelled, "The evaluation was cancelled.");
            const auto tokens = std::span(window).subspan(at, std::min(rows, window.size() - at));
            const std::size_t values = tokens.size() * vocabulary;
            teacher.prefill(teacherState, tokens, std::span(expected).first(values));
            model.prefill(modelState, tokens, std::span(actual).first(values));
            for (std::size_t row = 0; row < tokens.size() && at + row + 1 < window.size(); ++row)
                meter.add(std::span(expected).subspan(row * vocabulary, vocabulary),
                          std::span(actual).subspan(row * vocabulary, vocabulary),
                          window[at + row + 1]);
            done += tokens.size();
            if (progress)
                progress(static_cast<double>(done) / static_cast<double>(total));
        }
    }
    return meter.result();
}

} // namespace firesteel::engine
