// SPDX-License-Identifier: MIT
//
// Manifold-constrained hyper-connections (mHC): the residual is four parallel streams; each
// sublayer reads a learned mix of them and writes back through a doubly stochastic matrix
// (docs/model.md, section mHC).
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

inline constexpr int kHyperStreams = 4;
inline constexpr int kHyperMixes
    = (2 + kHyperStreams) * kHyperStreams; // pre 4, post 4, combination 4x4

struct HyperShape
{
    std::int64_t hidden = 0; // width of one stream
    int sinkhornIterations = 0;
    float rmsEps = 0;
    float eps = 0; // hc_eps
};

struct HyperWeights
{
    Matrix fn; // [24, 4 * hidden]
    std::span<const float> base; // [24]
    std::span<const float> scale; // [3]: pre, post, combination
};

// Mixing coefficients of every row and the collapsed input of the sublayer.
// post [rows, 4], combination [rows, 4, 4] (first index: source stream), collapsed [rows, hidden];
// streams [rows, 4, hidden].
void launchHyperMix(std::span<float> post, std::span<float> combination, std::span<float> collapsed,
                    std::span<const float> streams, const HyperWeights &weights,
                    const HyperShape &shape, std::int64_t rows, Stream &stream);

// streams'[t, j] = post[t, j] * y[t] + sum_i combination[t, i, j] * streams[t, i], in place.
void launchHyperExpand(std::span<float> streams, std::span<const float> y,
                       std::span<const float> post, std::span<const float> combination,
                       const HyperShape &shape, std::int64_t rows, Stream &stream);

// mean[t] = average of the four streams.  mean [rows, hidden].
void launchHyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
                     std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
