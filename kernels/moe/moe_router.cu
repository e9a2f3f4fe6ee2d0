// SPDX-License-Identifier: MIT
//
// The router's choice and the clamped SwiGLU. A warp chooses for a row: lane l keeps the scores of
// experts l, l + 32, … as integers that order like them; the best is found as often as a token has
// experts, by two reductions of the warp: the highest score, then the lowest id that has it.
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

constexpr unsigned kNoExpert = 0xFFFFFFFFU;

// An integer above 0 that orders like the number. NaN, of a row that means nothing, is lowest.
__device__ unsigned orderedKey(float value)
{
    if (isnan(value))
        return 1;
    const unsigned bits = __float_as_uint(value + 0.0F); // -0 becomes 0
    return max(2U, (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U);
}

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
    unsigned key[kLaneExperts]; // 0: no such expert, or taken
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) {
        const int expert = lane + 32 * i;
        score[i] = 0;
        key[i] = 0;
        if (expert < count) {
            score[i] = 1.0F / (1.0F + expf(-logits[static_cast<long long>(row) * count + expert]));
            key[i] = orderedKey(score[i] + bias[expert]);
        }
    }
    float sum = 0;
    float mine = 0; // lane i keeps the i-th choice
    int mineExpert = 0;
    for (int n = 0; n < chosen; ++n) {
        unsigned best = 0;
#pragma unroll
        for (int i = 0; i < kLaneExperts; ++i)
            best = max(best, key[i]);
        best = __reduce_max_sync(kAllLanes, best);
        unsigned expert = kNoExpert;
        float bestScore = 0;
#pragma unroll
        for (int i = kLaneExperts - 1; i >= 0; --i)
            if (key[i] == best && lane + 32 * i < count) {
                expert = static_cast<unsigned>(lane + 32 * i);
                bestScore = score[i];
            }
        const unsigned winner = __reduce_min_sync(kAllLanes, expert);
        bestScore = __shfl_sync(kAllLanes, bestScore, static_cast<int>(winner % 32));
#pragma unroll
        for (int i = 0; i < kLaneExperts; ++i)
            if (static_cast<unsigned>(lane + 32 * i) == winner)
                key[i] = 0;
        if (lane == n) {
            mine = bestScore;
            mineExpert = static_cast<int>(winner);
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
