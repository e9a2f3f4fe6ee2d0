// SPDX-License-Identifier: MIT
//
// What      absorbed[t, h] = W_k[h]^T q[t, h]; out[t, h] = W_v[h] mixed[t, h]; the decode class
// Layout    kv_b [heads * 512, 512] F16, BF16 or F32, of a head 256 key rows, then 256 value rows;
//           q, out [rows, heads, 256], absorbed, mixed [rows, heads, 512] float32
// Limits    kv_b 16-byte aligned
// Traffic   262144 bytes of F16 weights a head, read once for up to 8 rows (from DRAM; the blocks
//           of further rows start beside each other and find them in L2), 3072 a row and head
// Work      2 * 256 * 512 flop a row and head
// Plan      Absorb: a block has a head and 256 columns, a warp 32 key rows, a lane 8 columns; the
//           warps' sums are added in order through shared memory. Expand: a block has a head and
//           128 values, a warp 4 at a time, whose products the lanes sum in a butterfly. A row's
//           sums never depend on how many rows there are.
// Flight    32 KB a block, two blocks a multiprocessor
// Measured  not measured
#include "kernels/common/cuda_queue.cuh"
#include "kernels/mla/mla_backends.h"
#include "kernels/mla/mla_device.cuh"
#include "kernels/mla/mla_weights.cuh"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kHeadRows = 2 * kHeadDim; // of kv_b
constexpr int kAbsorbColumns = 256; // of a block
constexpr int kExpandValues = 128; // of a block
constexpr int kValuesAtOnce = 4; // of a warp

struct ProjectArguments
{
    float *out;
    const float *in;
    const void *weights;
    std::int64_t rows;
    int heads;
};

template <DType kType, int kRows>
__global__ void __launch_bounds__(kThreads, 2)
    mla_absorb_decode_kernel(const ProjectArguments arguments)
{
    constexpr int kDepth = kHeadDim / kWarps; // key rows of a warp
    constexpr int kAhead = kType == DType::F32 ? 4 : 8; // weights' loads in flight
    constexpr int kStoredRows = kRows < 4 ? kRows : 4; // summed over the warps at a time
    __shared__ __align__(16) float query[kHeadDim * kRows];
    __shared__ __align__(16) float parts[kWarps][kStoredRows][kAbsorbColumns];

    cudaGridDependencySynchronize();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t firstRow = std::int64_t { blockIdx.x } * kRows;
    const int rows = static_cast<int>(min(std::int64_t { kRows }, arguments.rows - firstRow));
    const int firstColumn = static_cast<int>(blockIdx.y) * kAbsorbColumns;
    const int head = static_cast<int>(blockIdx.z);
    for (int i = static_cast<int>(threadIdx.x); i < kHeadDim * kRows; i += kThreads) {
        const int row = i / kHeadDim;
        const int d = i % kHeadDim;
        query[d * kRows + row] = row < rows
            ? arguments.in[((firstRow + row) * arguments.heads + head) * kHeadDim + d]
            : 0;
    }
    __syncthreads();

    float sums[kRows][8] = {};
    const std::int64_t start
        = (std::int64_t { head } * kHeadRows + warp * kDepth) * kLatentDim + firstColumn + lane * 8;
#pragma unroll 1
    for (int d = 0; d < kDepth; d += kAhead) {
        EightWeights<kType> ahead[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i)
            ahead[i].load(arguments.weights, start + std::int64_t { d + i } * kLatentDim);
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            float weights[8];
            ahead[i].widen(weights);
            const float *q = query + (warp * kDepth + d + i) * kRows;
#pragma unroll
            for (int row = 0; row < kRows; ++row)
#pragma unroll
                for (int c = 0; c < 8; ++c)
                    sums[row][c] = fmaf(q[row], weights[c], sums[row][c]);
        }
    }

#pragma unroll
    for (int first = 0; first < kRows; first += kStoredRows) {
        __syncthreads(); // the rows before were read
#pragma unroll
        for (int row = 0; row < kStoredRows; ++row)
#pragma unroll
            for (int c = 0; c < 8; c += 4)
                *reinterpret_cast<float4 *>(&parts[warp][row][lane * 8 + c])
                    = make_float4(sums[first + row][c], sums[first + row][c + 1],
                                  sums[first + row][c + 2], sums[first + row][c + 3]);
        __syncthreads();
        const int column = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int row = 0; row < kStoredRows; ++row) {
            if (first + row >= rows)
                break;
            float sum = 0;
#pragma unroll
            for (int w = 0; w < kWarps; ++w)
                sum += parts[w][row][column];
            arguments.out[((firstRow + first + row) * arguments.heads + head) * kLatentDim
                          + firstColumn + column]
                = sum;
        }
    }
}

template <DType kType, int kRows>
__global__ void __launch_bounds__(kThreads, 2)
    mla_expand_decode_kernel(const ProjectArguments arguments)
{
    constexpr int kChunks = kLatentDim / 8 / 32; // of 8 columns, of a lane
    // Of each chunk the first four values, then of each the last four: lanes read side by side.
    __shared__ __align__(16) float mixed[kRows][2][kLatentDim / 2];

    cudaGridDependencySynchronize();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t firstRow = std::int64_t { blockIdx.x } * kRows;
    const int rows = static_cast<int>(min(std::int64_t { kRows }, arguments.rows - firstRow));
    const int head = static_cast<int>(blockIdx.z);
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kLatentDim; i += kThreads) {
        const int row = i / kLatentDim;
        const int c = i % kLatentDim;
        mixed[row][c / 4 % 2][c / 8 * 4 + c % 4] = row < rows
            ? arguments.in[((firstRow + row) * arguments.heads + head) * kLatentDim + c]
            : 0;
    }
    __syncthreads();

#pragma unroll 1
    for (int first = warp * kValuesAtOnce; first < kExpandValues; first += kWarps * kValuesAtOnce) {
        const int value = static_cast<int>(blockIdx.y) * kExpandValues + first;
        const std::int64_t start
            = (std::int64_t { head } * kHeadRows + kHeadDim + value) * kLatentDim + lane * 8;
        EightWeights<kType> ahead[kChunks][kValuesAtOnce];
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
            for (int v = 0; v < kValuesAtOnce; ++v)
                ahead[chunk][v].load(arguments.weights, start + v * kLatentDim + chunk * 256);
        float sums[kValuesAtOnce][kRows] = {};
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
            float weights[kValuesAtOnce][8];
#pragma unroll
            for (int v = 0; v < kValuesAtOnce; ++v)
                ahead[chunk][v].widen(weights[v]);
#pragma unroll
            for (int row = 0; row < kRows; ++row)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const float4 x = *reinterpret_cast<const float4 *>(
                        &mixed[row][half][(chunk * 32 + lane) * 4]);
#pragma unroll
                    for (int v = 0; v < kValuesAtOnce; ++v) {
                        float &sum = sums[v][row];
                        sum = fmaf(x.x, weights[v][4 * half], sum);
                        sum = fmaf(x.y, weights[v][4 * half + 1], sum);
                        sum = fmaf(x.z, weights[v][4 * half + 2], sum);
                        sum = fmaf(x.w, weights[v][4 * half + 3], sum);
                    }
                }
        }
        // Lane v * kRows + row keeps that sum.
        float mine = 0;
#pragma unroll
        for (int v = 0; v < kValuesAtOnce; ++v)
#pragma unroll
            for (int row = 0; row < kRows; ++row) {
                float sum = sums[v][row];
#pragma unroll
                for (int offset = 16; offset > 0; offset /= 2)
                    sum += __shfl_xor_sync(~0U, sum, offset);
                mine = lane == v * kRows + row ? sum : mine;
            }
        if (lane < kValuesAtOnce * kRows && lane % kRows < rows)
            arguments.out[((firstRow + lane % kRows) * arguments.heads + head) * kHeadDim + value
                          + lane / kRows]
                = mine;
    }
}

dim3 gridOf(std::int64_t rows, int rowsOfBlock, int parts, int heads)
{
    return { static_cast<unsigned>((rows + rowsOfBlock - 1) / rowsOfBlock),
             static_cast<unsigned>(parts), static_cast<unsigned>(heads) };
}

// Calls call.template operator()<rows of a block>().
template <typename Call> void forRows(std::int64_t rows, const Call &call)
{
    if (rows <= 1)
        return call.template operator()<1>();
    if (rows <= 4)
        return call.template operator()<4>();
    call.template operator()<8>();
}

} // namespace

//------------------------------------------------------------------------------------------------

void mlaAbsorbQueryDecode(std::span<float> absorbed, std::span<const float> query,
                          const Matrix &kvB, const MlaShape &shape, std::int64_t rows,
                          CudaQueue &queue)
{
    if (rows == 0)
        return;
    const ProjectArguments arguments { absorbed.data(), query.data(), kvB.data, rows,
                                       static_cast<int>(shape.heads) };
    forDType(kvB.dtype, [&]<DType kType>() {
        forRows(rows, [&]<int kRows>() {
            launchAhead(mla_absorb_decode_kernel<kType, kRows>,
                        gridOf(rows, kRows, kLatentDim / kAbsorbColumns, arguments.heads), kThreads,
                        0, queue, "mla_absorb_decode_kernel", arguments);
        });
    });
}

void mlaExpandValueDecode(std::span<float> out, std::span<const float> mixed, const Matrix &kvB,
                          const MlaShape &shape, std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    const ProjectArguments arguments { out.data(), mixed.data(), kvB.data, rows,
                                       static_cast<int>(shape.heads) };
    forDType(kvB.dtype, [&]<DType kType>() {
        forRows(rows, [&]<int kRows>() {
            launchAhead(mla_expand_decode_kernel<kType, kRows>,
                        gridOf(rows, kRows, kHeadDim / kExpandValues, arguments.heads), kThreads, 0,
                        queue, "mla_expand_decode_kernel", arguments);
        });
    });
}

} // namespace firesteel::kernels::cuda
