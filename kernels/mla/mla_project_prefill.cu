// SPDX-License-Identifier: MIT
//
// What      absorbed[t, h] = W_k[h]^T q[t, h]; out[t, h] = W_v[h] mixed[t, h]; the prefill class
// Layout    as in mla_project_decode.cu
// Limits    kv_b 16-byte aligned
// Traffic   per head and 128 rows: 262144 bytes of F16 weights, 393216 of activations
// Work      2 * 256 * 512 flop a row and head, float32 without tensor cores
// Plan      a block has a head and 128 rows x 128 columns, a thread 8 x 8 of them, a depth of 16 at
//           a time in shared memory, the next one on its way to registers; a sum runs over the
//           depth in order. 512 rows a launch.
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"
#include "kernels/mla/mla_weights.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kTile = 128; // rows, and columns
constexpr int kDepth = 16;
constexpr int kStride = kTile + 4;
constexpr std::int64_t kRowsPerLaunch = 512;

struct ProjectArguments
{
    float *out;
    const float *in;
    const void *weights;
    std::int64_t rows;
    std::int64_t firstRow; // of this launch
    int heads;
};

enum class Projection { AbsorbQuery, ExpandValue };

template <DType kType, Projection kProjection>
__global__ void __launch_bounds__(kThreads, 2)
    mla_project_prefill_kernel(const ProjectArguments arguments)
{
    constexpr bool kIsAbsorb = kProjection == Projection::AbsorbQuery;
    constexpr int kInner = kIsAbsorb ? kHeadDim : kLatentDim;
    constexpr int kOuter = kIsAbsorb ? kLatentDim : kHeadDim;
    __shared__ __align__(16) float inputs[2][kDepth][kStride];
    __shared__ __align__(16) float factors[2][kDepth][kStride];

    cudaGridDependencySynchronize();
    const int thread = static_cast<int>(threadIdx.x);
    const int firstColumn = static_cast<int>(blockIdx.x) * kTile;
    const std::int64_t firstRow = arguments.firstRow + std::int64_t { blockIdx.y } * kTile;
    const std::int64_t head = blockIdx.z;

    // What a thread brings to a step: 8 inputs of a row; 8 weights, of a row of kv_b either way,
    // which runs along the columns (absorb) or along the depth (expand).
    const int pairRow = thread / 2;
    const int pairDepth = thread % 2 * 8;
    const int weightRow = kIsAbsorb ? thread / 16 : pairRow;
    const int weightColumn = kIsAbsorb ? thread % 16 * 8 : pairDepth;
    const bool isRow = firstRow + pairRow < arguments.rows;
    const float *input = arguments.in
        + ((isRow ? firstRow + pairRow : arguments.rows - 1) * arguments.heads + head) * kInner
        + pairDepth;
    const std::int64_t weight = kIsAbsorb
        ? (head * 2 * kHeadDim + weightRow) * kLatentDim + firstColumn + weightColumn
        : (head * 2 * kHeadDim + kHeadDim + firstColumn + weightRow) * kLatentDim + weightColumn;
    constexpr std::int64_t kWeightStep = kIsAbsorb ? std::int64_t { kDepth } * kLatentDim : kDepth;

    float4 nextInputs[2];
    EightWeights<kType> nextWeights;
    const auto request = [&](int step) {
        const auto *from = reinterpret_cast<const float4 *>(input + step * kDepth);
        nextInputs[0] = __ldg(from);
        nextInputs[1] = __ldg(from + 1);
        nextWeights.load(arguments.weights, weight + step * kWeightStep);
    };
    const auto store
        = [&](int stage) {
              const float values[8] { nextInputs[0].x, nextInputs[0].y, nextInputs[0].z,
                                      nextInputs[0].w, nextInputs[1].x, nextInputs[1].y,
                                      nextInputs[1].z, nextInputs[1].w };
              float weights[8];
              nextWeights.widen(weights);
#pragma unroll
              for (int i = 0; i < 8; ++i)
                  inputs[stage][pairDepth + i][pairRow] = values[i];
              if constexpr (kIsAbsorb) {
#pragma unroll
                  for (int i = 0; i < 8; i += 4)
                      *reinterpret_cast<float4 *>(&factors[stage][weightRow][weightColumn + i])
                          = make_float4(weights[i], weights[i + 1], weights[i + 2], weights[i + 3]);
              } else {
#pragma unroll
                  for (int i = 0; i < 8; ++i)
                      factors[stage][weightColumn + i][weightRow] = weights[i];
              }
          };

    // Rows y .. y + 3 and 64 + y .. 64 + y + 3, columns likewise.
    const int y = thread / 16 * 4;
    const int x = thread % 16 * 4;
    float sums[8][8] = {};
    request(0);
    store(0);
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < kInner / kDepth; ++step) {
        const int stage = step % 2;
        const bool isLast = step + 1 == kInner / kDepth;
        if (!isLast)
            request(step + 1);
#pragma unroll
        for (int k = 0; k < kDepth; ++k) {
            float a[8];
            float b[8];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                *reinterpret_cast<float4 *>(a + 4 * half)
                    = *reinterpret_cast<const float4 *>(&inputs[stage][k][kTile / 2 * half + y]);
                *reinterpret_cast<float4 *>(b + 4 * half)
                    = *reinterpret_cast<const float4 *>(&factors[stage][k][kTile / 2 * half + x]);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
        }
        if (!isLast)
            store(1 - stage); // read last before the barrier of the step before
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const std::int64_t row = firstRow + i / 4 * (kTile / 2) + y + i % 4;
        if (row >= arguments.rows)
            continue;
        float *out = arguments.out + (row * arguments.heads + head) * kOuter + firstColumn + x;
#pragma unroll
        for (int half = 0; half < 2; ++half)
            *reinterpret_cast<float4 *>(out + kTile / 2 * half)
                = make_float4(sums[i][4 * half], sums[i][4 * half + 1], sums[i][4 * half + 2],
                              sums[i][4 * half + 3]);
    }
}

template <Projection kProjection>
void project(ProjectArguments arguments, DType type, CudaQueue &queue)
{
    constexpr int kOuter = kProjection == Projection::AbsorbQuery ? kLatentDim : kHeadDim;
    forDType(type, [&]<DType kType>() {
        for (std::int64_t first = 0; first < arguments.rows; first += kRowsPerLaunch) {
            arguments.firstRow = first;
            const std::int64_t rows = std::min(kRowsPerLaunch, arguments.rows - first);
            launchAhead(mla_project_prefill_kernel<kType, kProjection>,
                        dim3(kOuter / kTile, static_cast<unsigned>((rows + kTile - 1) / kTile),
                             static_cast<unsigned>(arguments.heads)),
                        kThreads, 0, queue, "mla_project_prefill_kernel", arguments);
        }
    });
}

} // namespace

//------------------------------------------------------------------------------------------------

void mlaAbsorbQueryPrefill(std::span<float> absorbed, std::span<const float> query,
                           const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                           CudaQueue &queue)
{
    project<Projection::AbsorbQuery>(
        { absorbed.data(), query.data(), kvB.data, rows, 0, static_cast<int>(shape.heads) },
        kvB.dtype, queue);
}

void mlaExpandValuePrefill(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                           const MlaShape &shape, std::int64_t rows, CudaQueue &queue)
{
    project<Projection::ExpandValue>(
        { out.data(), mixed.data(), kvB.data, rows, 0, static_cast<int>(shape.heads) }, kvB.dtype,
        queue);
}

} // namespace firesteel::kernels::cuda
