// SPDX-License-Identifier: MIT
//
// Manifold-constrained hyper-connections (mHC): the residual is four parallel streams; each
// sublayer reads a learned mix of them and writes back through a doubly stochastic matrix
// (docs/model.md, section mHC). The update that one site owes the streams is applied by the next,
// which reads them anyway.
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::kernels {

inline constexpr int kHyperStreams = 4;
inline constexpr int kHyperMixes
    = (2 + kHyperStreams) * kHyperStreams; // pre 4, post 4, combination 4x4

struct HyperShape
{
    std::int64_t hidden = 0; // width of one stream; on the device a multiple of 64, at most 4096
    int sinkhornIterations = 0;
    float rmsEps = 0;
    float eps = 0; // hc_eps
};

struct HyperWeights
{
    Matrix fn; // [24, 4 * hidden]
    std::span<const float> base; // [24]
    std::span<const float> scale; // [3]: pre, post, combination
    std::span<const float> norm; // [hidden]: of the sublayer's input
};

// How a site writes its sublayer's output back.
struct HyperMixing
{
    std::span<float> post; // [rows, 4]
    std::span<float> combination; // [rows, 4, 4], first index: source stream
};

// What a sublayer made of its input and the streams lack:
//   streams'[t, j] = post[t, j] * (y[t] + addend[t]) + sum_i combination[t, i, j] * streams[t, i]
struct HyperUpdate
{
    std::span<const float> y; // [rows, hidden]; empty: nothing is owed
    std::span<const float> addend; // [rows, hidden], or empty
    HyperMixing mixing;
};

// Bytes of scratch that launchHyperEnter needs.
std::size_t hyperScratchBytes(const HyperShape &shape, std::int64_t rows, const Stream &stream);

// Applies `owed` to the streams [rows, 4, hidden], then computes the next site's mixing and its
// sublayer's input: the collapsed streams, RMS-normalised, times weights.norm. `mixing` may be the
// memory of owed.mixing. input [rows, hidden].
void launchHyperEnter(std::span<float> input, const HyperMixing &mixing, std::span<float> streams,
                      const HyperUpdate &owed, const HyperWeights &weights,
                      std::span<std::byte> scratch, const HyperShape &shape, std::int64_t rows,
                      Stream &stream);

// Applies `owed` alone.
void launchHyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                       std::int64_t rows, Stream &stream);

// mean[t * stride + c] = average of the four streams at c; stride 0 means hidden.
void launchHyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
                     std::int64_t rows, Stream &stream, std::int64_t stride = 0);

} // namespace firesteel::kernels
