// SPDX-License-Identifier: MIT
//
// Mixture of experts: sigmoid router with a correction bias, and routed experts with clamped SwiGLU
// (docs/model.md, section MoE).
#pragma once

#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <span>

namespace firesteel::kernels {

struct MoeShape
{
    std::int64_t hidden = 0;
    std::int64_t experts = 0;
    std::int64_t expertsPerToken = 0;
    std::int64_t expertWidth = 0;
    float routedScaling = 0;
    float swigluLimit = 0;
};

// y = silu(min(gate, limit)) * clamp(up, -limit, limit), elementwise; y may be gate.
void launchSwiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up,
                  float limit, Stream &stream);

// s = sigmoid(logits); the experts with the largest s + bias (ties: the lower id), in that order;
// weight = s / (sum of the chosen s + 1e-20) * routedScaling.  experts, weights [rows,
// expertsPerToken]; logits [rows, experts].
void launchMoeRouter(std::span<std::int32_t> experts, std::span<float> weights,
                     std::span<const float> logits, std::span<const float> bias,
                     const MoeShape &shape, std::int64_t rows, Stream &stream);

struct ExpertWeights
{
    Matrix gate; // [expertWidth, hidden]
    Matrix up; // [expertWidth, hidden]
    Matrix down; // [hidden, expertWidth]
};

struct MoeScratch
{
    std::span<float> gate; // [rows * expertsPerToken, expertWidth]
    std::span<float> up; // [rows * expertsPerToken, expertWidth]
    std::span<float> output; // [rows * expertsPerToken, hidden]; the CPU's alone
};

// y[t] = sum over the chosen experts, in their order, of weight * down(swiglu(gate x, up x)). A
// row's result does not depend on the others. For models small enough to be kept plain: the CPU
// reads each expert's weights once for all of its rows, the device once a row. y, x [rows, hidden];
// the table lies where the stream runs.
void launchMoeExperts(std::span<float> y, std::span<const float> x,
                      std::span<const std::int32_t> experts, std::span<const float> weights,
                      std::span<const ExpertWeights> table, const MoeScratch &scratch,
                      const MoeShape &shape, std::int64_t rows, Stream &stream);

} // namespace firesteel::kernels
