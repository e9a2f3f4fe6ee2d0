// SPDX-License-Identifier: MIT
//
// A checkpoint folder loaded for a test: everything Model::load needs, kept alive together.
#pragma once

#include "engine/checkpoint/checkpoint.h"
#include "engine/model/model.h"
#include "kernels/common/stream.h"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace firesteel::test {

struct LoadedModel
{
    // Throws std::runtime_error with the engine's message when loading fails.
    explicit LoadedModel(const std::filesystem::path &directory, int threads = 2,
                         std::uint64_t decodeBudgetBytes = UINT64_MAX,
                         std::shared_ptr<kernels::CudaQueue> queue = nullptr);

    engine::Checkpoint checkpoint;
    kernels::Stream stream;
    std::unique_ptr<engine::Model> model;

    std::size_t vocabulary() const
    {
        return static_cast<std::size_t>(model->shape().vocabularySize);
    }

    // Logits [rows, vocabulary] of one decode step with these rows; the rows stay pending.
    std::vector<float> decode(engine::SequenceState &sequence,
                              std::span<const std::int32_t> tokens);
    // Logits of the last `rows` prefilled tokens.
    std::vector<float> prefill(engine::SequenceState &sequence,
                               std::span<const std::int32_t> tokens, std::size_t rows = 1,
                               const engine::LayerObserver &observer = {});
};

// Glimmer's BF16 weights, loaded once per process; null after reporting a skip when
// FIRESTEEL_MODEL is not set.
LoadedModel *trainedModel();

// The quantised Glimmer that comes with the program, loaded once per process.
LoadedModel &embeddedModel();

// The same models on the GPU; null after reporting a skip where there is none.
LoadedModel *embeddedModelOnDevice();
LoadedModel *trainedModelOnDevice();

std::int32_t argmax(std::span<const float> row); // the lowest id among equals

} // namespace firesteel::test
