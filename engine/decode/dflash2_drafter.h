// SPDX-License-Identifier: MIT
//
// DFlash2 (docs/speculation.md): a small transformer that fills a block of mask tokens in one pass,
// with keys and values made of the target's residual streams as its context, and a selector that
// walks through each row's likeliest tokens. Embedding and head are the target's.
#pragma once

#include "engine/base/cancel_token.h"
#include "engine/checkpoint/tensor_folder.h"
#include "engine/decode/dflash2_shape.h"
#include "engine/decode/drafter.h"
#include "engine/model/linear_weight.h"
#include "engine/model/model.h"
#include "engine/model/weight_reader.h"
#include "kernels/draft/draft.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace firesteel::engine {

class Dflash2Drafter final : public Drafter
{
public:
    // `target` and `stream`, which runs on the CPU, must outlive the drafter. Sequences: slots
    // 0..slots-1. Errors: those of readDflash2Config and TensorFolder::open; BadCheckpoint naming a
    // tensor.
    static Result<std::unique_ptr<Dflash2Drafter>>
    load(const std::filesystem::path &directory, Model &target, kernels::Stream &stream, int slots);
    // What load() takes: weights (decoded ones too) and every slot's context. Errors: the same.
    static Result<std::uint64_t> neededBytes(const std::filesystem::path &directory,
                                             const ModelShape &target, int slots);

    const Dflash2Shape &shape() const { return m_shape; }

    std::span<const int> tapLayers() const override { return m_shape.tapLayers; }
    int tapWindow() const override { return m_shape.window - 1; }
    void restart(int slot) override;
    void rewind(int slot, int position) override;
    void extend(int slot, int position, std::span<const float> taps) override;
    void draft(std::span<DraftJob> jobs) override;
    std::uint64_t bytes() const override;

    // What a pass computes on its way; for tests.
    struct Trace
    {
        std::vector<float> features; // [rows, hidden] of the last extend()
        std::vector<std::vector<float>> layers; // per layer [block rows, hidden] of the last job
        std::vector<float> z; // [block rows, hidden], normalised
        std::vector<float> logits; // [drafts, vocabulary]
        std::vector<std::int32_t> candidates; // [drafts, selectorTopK]
        std::vector<float> candidateLogits;
        std::vector<float> scores;
    };
    void setTrace(Trace *trace) { m_trace = trace; }
    kernels::DraftContextView context(int slot, int layer) const;

private:
    struct Convolution
    {
        kernels::Buffer<float> base; // [2 sides, 2 taps, hidden]
        LinearWeight projection; // [2 sides * 2 taps * groups, hidden]
    };
    struct Layer
    {
        kernels::Buffer<float> inputNorm, attentionNorm, queryNorm, keyNorm;
        LinearWeight query, key, value, output, gate, up, down;
        Convolution attention, mlp;
    };
    // One sequence's context: positions first..end-1 of every layer.
    struct Slot
    {
        std::int64_t first = 0;
        std::int64_t end = 0;
        std::vector<std::vector<float>> keys, values; // per layer [window, keyWidth]
    };

    Dflash2Drafter(const Dflash2Shape &shape, TensorFolder folder, Model &target,
                   kernels::Stream &stream, int slots);
    Result<void> readWeights();
    Layer readLayer(WeightReader &weights, const std::string &prefix) const;
    void linear(std::vector<float> &y, std::span<const float> x, const LinearWeight &weight,
                std::int64_t rows);
    // The block's rows through the layers: m_x in and out.
    void runLayers(std::span<const DraftJob> jobs, std::int64_t blockRows);
    void attend(const Layer &layer, std::size_t index, std::span<const DraftJob> jobs,
                std::int64_t blockRows);
    void convolve(std::vector<float> &y, std::span<const float> x, const Convolution &convolution,
                  int side, std::int64_t blockRows, std::int64_t rows);
    void addResidual(std::int64_t rows);
    void select(DraftJob &job, std::int64_t firstRow);

    Dflash2Shape m_shape;
    TensorFolder m_folder;
    Model &m_target;
    kernels::Stream &m_stream;
    WeightStore m_store;
    kernels::DraftAttentionShape m_attention;
    std::vector<Slot> m_slots;
    LinearWeight m_fuse, m_hiddenProjection, m_predecessors, m_successors;
    kernels::Buffer<float> m_contextNorm, m_norm;
    std::vector<Layer> m_layers;
    std::uint64_t m_decodedBytes = 0;
    Trace *m_trace = nullptr;

    // Scratch of one pass; grows to the largest seen.
    std::vector<float> m_features, m_x, m_h, m_mixed, m_dynamic, m_q, m_k, m_v, m_o, m_up;
    std::vector<float> m_logits, m_candidateLogits, m_hidden, m_scores;
    std::vector<std::int32_t> m_ids, m_candidates;
    std::vector<double> m_uniforms;
};

} // namespace firesteel::engine
