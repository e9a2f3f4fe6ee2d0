// SPDX-License-Identifier: MIT
//
// Recurrent and convolution state of one KDA layer of one sequence, where the kernels run.
#pragma once

#include "engine/checkpoint/model_shape.h"
#include "kernels/common/buffer.h"
#include "kernels/common/stream.h"
#include "kernels/kda/kda.h"

#include <cstdint>

namespace firesteel::engine {

struct KdaState
{
    KdaState() = default;
    KdaState(const ModelShape &shape, kernels::Stream &stream); // zeros

    kernels::Buffer<float> state; // [heads, d key, d value]
    kernels::Buffer<float> window; // [3, 3 * channels], rows before the convolution, oldest first

    // Rows of the last decode step, kernels::kMaxSequenceRows of them; how many of them count and
    // are not in `state` and `window` yet says SequenceState::recordedRows().
    kernels::Buffer<float> recordedInput; // [rows, 3 * channels] before the convolution
    kernels::Buffer<float> recordedU; // [rows, 3 * channels] normalised q|k|v
    kernels::Buffer<float> recordedG; // [rows, channels]
    kernels::Buffer<float> recordedBeta; // [rows, heads]

    kernels::KdaSlot slot() const;
    KdaState clone(kernels::Stream &stream) const;
    // `other` may lack its records, which then do not count.
    void copyFrom(const KdaState &other, kernels::Stream &stream);
    // Into `storage`, a former copy or empty; without the records unless they count.
    KdaState copyInto(KdaState storage, bool withRecords, kernels::Stream &stream) const;
    std::uint64_t bytes() const;
};

} // namespace firesteel::engine
