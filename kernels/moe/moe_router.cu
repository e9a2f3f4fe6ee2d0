// SPDX-License-Identifier: MIT
//
// The router's choice and the clamped SwiGLU. A warp chooses for a row: lane l keeps the scores of
// experts l, l + 32, …; the best is found as often as a token has experts.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/moe/moe_backends.h"

#include <stdexcept>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kRouterThreads = 128;
constexpr int kLaneExperts = 16; // so 512 experts at most
constexpr int kMostChosen = 32;
constexpr int kSwigluThreads = 256;

__global__ __launch_bounds__(kRouterThreads) void routerKernel(std::int32_t *experts,
                                                               float *weights, const float *logits,
                                                               const float *bias, int count,
                                                               int chosen, float scaling, int rows)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>((blockIdx.x * kRouterThreads + threadIdx.x) / 32);
    if (row >= rows)
        return;
    float score[kLaneExperts];
    float biased[kLaneExperts];
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) {
        const int expert = lane + 32 * i;
        const bool exists = expert < count;
        score[i] = exists
            ? 1.0F / (1.0F + expf(-logits[static_cast<long long>(row) * count + expert]))
            : 0.0F;
        biased[i] = exists ? score[i] + bias[expert] : -INFINITY;
        if (isnan(biased[i]))
            biased[i] = -INFINITY; // of a row that means nothing: its choice only has to be valid
    }
    unsigned taken = 0; // bit i: the lane's i-th expert
    float sum = 0;
    float mine = 0; // lane i keeps the i-th choice
    int mineExpert = 0;
    for (int n = 0; n < chosen; ++n) {
        float best = -INFINITY;
        int bestExpert = count; // no expert yet
        float bestScore = 0;
#pragma unroll
        for (int i = 0; i < kLaneExperts; ++i) {
            const int expert = lane + 32 * i;
            if (expert < count && (taken >> i & 1U) == 0
                && (bestExpert == count || biased[i] > best)) {
                best = biased[i];
                bestExpert = expert;
                bestScore = score[i];
            }
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            const float otherBest = __shfl_xor_sync(kAllLanes, best, offset);
            const int otherExpert = __shfl_xor_sync(kAllLanes, bestExpert, offset);
            const float otherScore = __shfl_xor_sync(kAllLanes, bestScore, offset);
            const bool better = otherExpert < count
                && (bestExpert == count || otherBest > best
                    || (otherBest == best && otherExpert < bestExpert));
            if (better) {
                best = otherBest;
                bestExpert = otherExpert;
                bestScore = otherScore;
            }
        }
        if (bestExpert % 32 == lane)
            taken |= 1U << (bestExpert / 32);
        if (lane == n) {
            mine = bestScore;
            mineExpert = bestExpert;
        }
        sum += bestScore;
    }
    if (lane < chosen) {
        const long long at = static_cast<long long>(row) * chosen + lane;
        experts[at] = mineExpert;
        weights[at] = mine / (sum + 1e-20F) * scaling;
    }
}

__global__ __launch_bounds__(kSwigluThreads) void swigluKernel(float *y, const float *gate,
                                                               const float *up, float limit,
                                                               long long count)
{
    const long long i = static_cast<long long>(blockIdx.x) * kSwigluThreads + threadIdx.x;
    if (i >= count)
        return;
    const float g = fminf(gate[i], limit);
    y[i] = g / (1.0F + expf(-g)) * fminf(fmaxf(up[i], -limit), limit);
}

} // namespace

void moeRouter(std::span<std::int32_t> experts, std::span<float> weights,
               std::span<const float> logits, std::span<const float> bias, const MoeShape &shape,
               std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    if (shape.experts > 32 * kLaneExperts || shape.expertsPerToken > kMostChosen
        || shape.expertsPerToken > shape.experts)
        throw std::logic_error("launchMoeRouter: the device chooses up to 32 of 512 experts");
    constexpr std::int64_t kBlockRows = kRouterThreads / 32;
    routerKernel<<<static_cast<unsigned>((rows + kBlockRows - 1) / kBlockRows), kRouterThreads, 0,
                   queue.stream()>>>(
        experts.data(), weights.data(), logits.data(), bias.data(), static_cast<int>(shape.experts),
        static_cast<int>(shape.expertsPerToken), shape.routedScaling, static_cast<int>(rows));
    checkLaunch("routerKernel");
}

void swiglu(std::span<float> y, std::span<const float> gate, std::span<const float> up, float limit,
            CudaQueue &queue)
{
    if (y.empty())
        return;
    swigluKernel<<<static_cast<unsigned>((y.size() + kSwigluThreads - 1) / kSwigluThreads),
                   kSwigluThreads, 0, queue.stream()>>>(y.data(), gate.data(), up.data(), limit,
                                                        static_cast<long long>(y.size()));
    checkLaunch("swigluKernel");
}

} // namespace firesteel::kernels::cuda
