// SPDX-License-Identifier: MIT
//
// The glm5_next text model: embedding, layers, head. Weights are const after load; everything that
// changes lives in SequenceState (per sequence) and in the workspace (scratch of one call). Engine
// thread only.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/model/linear_observer.h"
#include "engine/model/weight_store.h"
#include "engine/state/sequence_state.h"
#include "kernels/common/stream.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace firesteel::engine {

// Rows one sequence contributes to a decode step: the last accepted token and its drafts, at
// consecutive positions.
struct DecodeRows
{
    SequenceState *sequence = nullptr;
    std::span<const std::int32_t> tokens; // 1..kMaxDecodeRows
};

// Diagnostics: sees the residual streams after each layer, [rows, streams, hiddenSize], in host
// memory. Never set in production.
using LayerObserver = std::function<void(int layer, std::span<const float> streams)>;

// Why the device's kernels cannot run a model of this shape, as a sentence; empty if they can.
std::string whyNotOnDevice(const ModelShape &shape);

// All spans of calls are host memory.
class Model
{
public:
    // Prefill work is cut here, so that chunks of any multiple of this size give the same bits
    // (design: exactness E2).
    static constexpr int kPrefillAlignment = 64;

    // The stream chooses the backend. On the CPU the checkpoint must outlive the model: weights are
    // used where they are mapped, but for EXL3 modules, which are decoded into float32 if all of
    // them together (decodedExl3Bytes, engine/model/weight_reader.h) take no more than
    // decodeBudgetBytes. On the device they are copied as they are stored.
    // Errors: BadCheckpoint, UnsupportedModel, Cancelled. Throws kernels::DeviceError.
    static Result<std::unique_ptr<Model>> load(const Checkpoint &checkpoint,
                                               kernels::Stream &stream,
                                               const std::function<void(double fraction)> &progress,
                                               const CancelToken &cancel,
                                               std::uint64_t decodeBudgetBytes = UINT64_MAX,
                                               WeightContents contents = WeightContents::Stored);
    virtual ~Model() = default;

    virtual const ModelShape &shape() const = 0;
    virtual std::uint64_t parameterCount() const = 0;

    // Scratch of a forward call, allocated at load and with the first sequence of a length.
    // Sequences: engine/state/sequence_memory.h.
    virtual std::uint64_t workspaceBytes() const = 0;
    virtual SequenceState newSequence(int contextTokens) = 0;

    // What a drafter reads: the mean of the residual streams after each of these layers, of every
    // row of a call that gives a span for them: [rows, layers, hidden]. Layers rise.
    virtual void setTapLayers(std::span<const int> layers) = 0;

    // Appends `tokens` to the sequence with the prefill kernels and commits them. `logits`: empty,
    // or [n, vocabulary] for the last n rows. `taps`: empty, or for all rows. Rows run at multiples
    // of kPrefillAlignment of the absolute position; a caller that splits a prompt elsewhere gets
    // results that differ in rounding (exactness E4).
    virtual void prefill(SequenceState &sequence, std::span<const std::int32_t> tokens,
                         std::span<float> logits, std::span<float> taps = {},
                         const LayerObserver &observer = {})
        = 0;

    // One decode or verification step. `logits`: [all rows in order, vocabulary]; `taps`: empty, or
    // for all rows. Afterwards every sequence holds its rows as pending: call
    // SequenceState::commit before the next step.
    virtual void decode(std::span<const DecodeRows> batch, std::span<float> logits,
                        std::span<float> taps = {})
        = 0;

    // The tables that a drafter shares. x [ids, hidden]: the embeddings of `ids`.
    virtual void embed(std::span<float> x, std::span<const std::int32_t> ids) = 0;
    // logits [rows, vocabulary] of x [rows, hidden], which is normalised already.
    virtual void project(std::span<float> logits, std::span<const float> x, std::int64_t rows) = 0;

    // Calibration: from now on `observer` sees every linear layer's input; an empty one ends that.
    // On the CPU, with experts that are plain or decoded.
    virtual void observeLinears(LinearObserver observer) = 0;

    // Benchmarks, whose random weights do not route as trained ones: every layer's experts, [rows,
    // experts per token], for calls of up to that many rows; empty gives the choice back to the
    // router.
    virtual void forceRouting(std::span<const std::int32_t> experts) = 0;
};

} // namespace firesteel::engine
