// SPDX-License-Identifier: MIT
//
// mHC on the device, two launches a site. The first goes over the streams in columns: it applies
// what the previous site owes them and multiplies them with fn, giving partial sums per block of 64
// columns. The second adds those up, computes the coefficients (one thread: twenty Sinkhorn
// iterations on sixteen values are a chain of dependent steps, which more threads would only slow
// down by talking) and collapses and normalises the row.
//
// Bytes per row and site at hidden 4096: the streams read twice and written once (192 KiB), the
// sublayer's output and its addend, the input; fn (1.5 MiB as float32) once for up to eight rows.
// All sums have a fixed order that depends on the column alone, so both row classes give the same
// bits.
#include "kernels/common/block_reduce.cuh"
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/load_weights.cuh"
#include "kernels/hyper/hyper_backends.h"

#include <algorithm>

namespace firesteel::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kColumns = 64; // of one stream; a thread per stream and column
constexpr int kRowsPerBlock = 8;
constexpr int kSums = 32; // 24 products and the sum of squares, padded to a warp
constexpr int kSquares = kHyperMixes; // index of the sum of squares
constexpr int kRowVectors = 4; // of four columns, that a thread keeps of a row
constexpr int kMaxHidden = 4 * kThreads * kRowVectors;

static_assert(kThreads == kHyperStreams * kColumns);

struct Owed
{
    const float *y;
    const float *addend;
    const float *post;
    const float *combination;
};

// One round of warpSums: half of the values go to the other half of the lanes.
template <int kHalf> __device__ void foldHalf(float (&values)[kSums])
{
    const bool upper = (threadIdx.x & static_cast<unsigned>(kHalf)) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
        const float sent = upper ? values[i] : values[i + kHalf];
        const float kept = upper ? values[i + kHalf] : values[i];
        values[i] = kept + __shfl_xor_sync(kAllLanes, sent, kHalf);
    }
}

// Lane l ends with the warp's sum of values[l].
__device__ float warpSums(float (&values)[kSums])
{
    foldHalf<16>(values);
    foldHalf<8>(values);
    foldHalf<4>(values);
    foldHalf<2>(values);
    foldHalf<1>(values);
    return values[0];
}

__device__ float updated(const float (&in)[kHyperStreams], float y, const Owed &owed, long long row,
                         int target)
{
    float sum = owed.post[row * kHyperStreams + target] * y;
#pragma unroll
    for (int i = 0; i < kHyperStreams; ++i)
        sum = fmaf(owed.combination[(row * kHyperStreams + i) * kHyperStreams + target], in[i],
                   sum);
    return sum;
}

// partial [rows, column blocks, kSums]
template <DType kType, bool kOwed, bool kMix>
__global__ __launch_bounds__(kThreads) void streamsKernel(float *streams, float *partial,
                                                          const Owed owed, const void *fn,
                                                          int hidden, int rows)
{
    __shared__ float before[kHyperStreams][kColumns];
    __shared__ float sums[kWarps][kSums];
    const int stream = static_cast<int>(threadIdx.x) / kColumns;
    const int column
        = static_cast<int>(blockIdx.x) * kColumns + static_cast<int>(threadIdx.x) % kColumns;
    float weights[kHyperMixes];
    if constexpr (kMix)
#pragma unroll
        for (int n = 0; n < kHyperMixes; ++n)
            weights[n] = loadWeight<kType>(
                fn, (static_cast<long long>(n) * kHyperStreams + stream) * hidden + column);
    const int firstRow = static_cast<int>(blockIdx.y) * kRowsPerBlock;
    for (int row = firstRow; row < min(firstRow + kRowsPerBlock, rows); ++row) {
        const long long at
            = (static_cast<long long>(row) * kHyperStreams + stream) * hidden + column;
        float value = streams[at];
        if constexpr (kOwed) {
            before[stream][threadIdx.x % kColumns] = value;
            __syncthreads();
            float in[kHyperStreams];
#pragma unroll
            for (int i = 0; i < kHyperStreams; ++i)
                in[i] = before[i][threadIdx.x % kColumns];
            const long long output = static_cast<long long>(row) * hidden + column;
            float y = owed.y[output];
            if (owed.addend != nullptr)
                y += owed.addend[output];
            value = updated(in, y, owed, row, stream);
            streams[at] = value;
        }
        if constexpr (kMix) {
            float products[kSums];
#pragma unroll
            for (int n = 0; n < kSums; ++n)
                products[n] = n < kHyperMixes ? weights[n < kHyperMixes ? n : 0] * value
                    : n == kSquares           ? value * value
                                              : 0.0F;
            sums[threadIdx.x / 32][threadIdx.x % 32] = warpSums(products);
        }
        __syncthreads();
        if constexpr (kMix) {
            if (threadIdx.x < kSums) {
                float sum = 0;
#pragma unroll
                for (int warp = 0; warp < kWarps; ++warp)
                    sum += sums[warp][threadIdx.x];
                partial[(static_cast<long long>(row) * gridDim.x + blockIdx.x) * kSums
                        + threadIdx.x]
                    = sum;
            }
            __syncthreads();
        }
    }
}

__device__ float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

// Row softmax, then alternating column and row normalisation, as the reference does it; divisions
// by a common divisor are products with its reciprocal, which is off by one unit in the last place
// at most: the correctly rounded one is a subroutine, and this chain of 39 steps of four would take
// 25 us instead of 2.
__device__ void sinkhorn(float (&c)[kHyperStreams][kHyperStreams], int iterations, float eps)
{
    constexpr int kS = kHyperStreams;
#pragma unroll
    for (int i = 0; i < kS; ++i) {
        const float top = fmaxf(fmaxf(c[i][0], c[i][1]), fmaxf(c[i][2], c[i][3]));
        float sum = 0;
#pragma unroll
        for (int j = 0; j < kS; ++j)
            sum += c[i][j] = expf(c[i][j] - top);
#pragma unroll
        for (int j = 0; j < kS; ++j)
            c[i][j] = c[i][j] / sum + eps;
    }
    for (int iteration = 0; iteration < iterations; ++iteration) {
        if (iteration > 0) {
#pragma unroll
            for (int i = 0; i < kS; ++i) {
                const float scale
                    = __fdividef(1.0F, (c[i][0] + c[i][1]) + (c[i][2] + c[i][3]) + eps);
#pragma unroll
                for (int j = 0; j < kS; ++j)
                    c[i][j] *= scale;
            }
        }
#pragma unroll
        for (int j = 0; j < kS; ++j) {
            const float scale = __fdividef(1.0F, (c[0][j] + c[1][j]) + (c[2][j] + c[3][j]) + eps);
#pragma unroll
            for (int i = 0; i < kS; ++i)
                c[i][j] *= scale;
        }
    }
}

struct Site
{
    const float *base;
    const float *scale;
    const float *norm;
    float rmsEps;
    float eps;
    int iterations;
};

__global__ __launch_bounds__(kThreads) void enterKernel(float *input, float *post,
                                                        float *combination, const float *streams,
                                                        const float *partial, const Site site,
                                                        int hidden)
{
    __shared__ float sums[kWarps][kSums];
    __shared__ float pre[kHyperStreams];
    __shared__ float squares[kWarps];
    const long long row = blockIdx.x;
    const int blocks = hidden / kColumns;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float sum = 0;
#pragma unroll 8
    for (int block = warp; block < blocks; block += kWarps)
        sum += partial[(row * blocks + block) * kSums + lane];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
        float total = 0;
#pragma unroll
        for (int w = 0; w < kWarps; ++w)
            total += sums[w][lane];
        const float meanSquare
            = __shfl_sync(kAllLanes, total, kSquares) / static_cast<float>(kHyperStreams * hidden);
        const float rms = 1.0F / sqrtf(meanSquare + site.rmsEps);
        const int kind = lane < 4 ? 0 : lane < 8 ? 1 : 2;
        const float mix
            = lane < kHyperMixes ? total * rms * site.scale[kind] + site.base[lane] : 0.0F;
        if (lane < 4)
            pre[lane] = sigmoid(mix) + site.eps;
        else if (lane < 8)
            post[row * kHyperStreams + lane - 4] = 2.0F * sigmoid(mix);
        float c[kHyperStreams][kHyperStreams];
#pragma unroll
        for (int i = 0; i < kHyperStreams; ++i)
#pragma unroll
            for (int j = 0; j < kHyperStreams; ++j)
                c[i][j] = __shfl_sync(kAllLanes, mix, 8 + kHyperStreams * i + j);
        if (lane == 0) {
            sinkhorn(c, site.iterations, site.eps);
#pragma unroll
            for (int i = 0; i < kHyperStreams; ++i)
#pragma unroll
                for (int j = 0; j < kHyperStreams; ++j)
                    combination[(row * kHyperStreams + i) * kHyperStreams + j] = c[i][j];
        }
    }
    __syncthreads();
    // All loads of a thread are in flight together, and its part of the row stays in registers.
    const float *x = streams + row * kHyperStreams * hidden;
    float4 values[kRowVectors];
    float squareSum = 0;
#pragma unroll
    for (int v = 0; v < kRowVectors; ++v) {
        const int c = 4 * (static_cast<int>(threadIdx.x) + v * kThreads);
        values[v] = {};
        if (c >= hidden)
            continue;
#pragma unroll
        for (int i = 0; i < kHyperStreams; ++i) {
            const float4 in = *reinterpret_cast<const float4 *>(x + i * hidden + c);
            values[v].x = fmaf(pre[i], in.x, values[v].x);
            values[v].y = fmaf(pre[i], in.y, values[v].y);
            values[v].z = fmaf(pre[i], in.z, values[v].z);
            values[v].w = fmaf(pre[i], in.w, values[v].w);
        }
        squareSum = fmaf(values[v].x, values[v].x, squareSum);
        squareSum = fmaf(values[v].y, values[v].y, squareSum);
        squareSum = fmaf(values[v].z, values[v].z, squareSum);
        squareSum = fmaf(values[v].w, values[v].w, squareSum);
    }
    const float mean = blockSum<kThreads>(squareSum, squares) / static_cast<float>(hidden);
    const float scale = 1.0F / sqrtf(mean + site.rmsEps);
#pragma unroll
    for (int v = 0; v < kRowVectors; ++v) {
        const int c = 4 * (static_cast<int>(threadIdx.x) + v * kThreads);
        if (c >= hidden)
            continue;
        const float4 norm = *reinterpret_cast<const float4 *>(site.norm + c);
        *reinterpret_cast<float4 *>(input + row * hidden + c)
            = { values[v].x * scale * norm.x, values[v].y * scale * norm.y,
                values[v].z * scale * norm.z, values[v].w * scale * norm.w };
    }
}

__global__ __launch_bounds__(kThreads) void meanKernel(float *mean, const float *streams,
                                                       long long stride, int hidden)
{
    const long long row = blockIdx.x;
    const float *x = streams + row * kHyperStreams * hidden;
    for (int c = static_cast<int>(threadIdx.x); c < hidden; c += kThreads)
        mean[row * stride + c]
            = 0.25F * ((x[c] + x[hidden + c]) + (x[2 * hidden + c] + x[3 * hidden + c]));
}

Owed onDevice(const HyperUpdate &owed)
{
    return { .y = owed.y.data(),
             .addend = owed.addend.empty() ? nullptr : owed.addend.data(),
             .post = owed.mixing.post.data(),
             .combination = owed.mixing.combination.data() };
}

dim3 streamsGrid(const HyperShape &shape, std::int64_t rows)
{
    return { static_cast<unsigned>(shape.hidden / kColumns),
             static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock) };
}

void requireShape(const HyperShape &shape)
{
    if (shape.hidden % kColumns != 0 || shape.hidden > kMaxHidden)
        throw std::logic_error("mHC: the hidden size is no multiple of 64 up to 4096");
}

} // namespace

std::size_t hyperScratchBytes(const HyperShape &shape, std::int64_t rows)
{
    return static_cast<std::size_t>(rows * (shape.hidden / kColumns)) * kSums * sizeof(float);
}

void hyperEnter(std::span<float> input, const HyperMixing &mixing, std::span<float> streams,
                const HyperUpdate &owed, const HyperWeights &weights, std::span<std::byte> scratch,
                const HyperShape &shape, std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    requireShape(shape);
    if (scratch.size() < hyperScratchBytes(shape, rows))
        throw std::logic_error("mHC: too little scratch");
    auto *partial = reinterpret_cast<float *>(scratch.data());
    const int hidden = static_cast<int>(shape.hidden);
    forDType(weights.fn.dtype, [&]<DType kType>() {
        const auto kernel
            = owed.y.empty() ? streamsKernel<kType, false, true> : streamsKernel<kType, true, true>;
        kernel<<<streamsGrid(shape, rows), kThreads, 0, queue.stream()>>>(
            streams.data(), partial, onDevice(owed), weights.fn.data, hidden,
            static_cast<int>(rows));
    });
    checkLaunch("streamsKernel");
    const Site site { .base = weights.base.data(),
                      .scale = weights.scale.data(),
                      .norm = weights.norm.data(),
                      .rmsEps = shape.rmsEps,
                      .eps = shape.eps,
                      .iterations = shape.sinkhornIterations };
    enterKernel<<<static_cast<unsigned>(rows), kThreads, 0, queue.stream()>>>(
        input.data(), mixing.post.data(), mixing.combination.data(), streams.data(), partial, site,
        hidden);
    checkLaunch("enterKernel");
}

void hyperUpdate(std::span<float> streams, const HyperUpdate &owed, const HyperShape &shape,
                 std::int64_t rows, CudaQueue &queue)
{
    if (rows == 0)
        return;
    requireShape(shape);
    streamsKernel<DType::F32, true, false>
        <<<streamsGrid(shape, rows), kThreads, 0, queue.stream()>>>(
            streams.data(), nullptr, onDevice(owed), nullptr, static_cast<int>(shape.hidden),
            static_cast<int>(rows));
    checkLaunch("streamsKernel");
}

void hyperMean(std::span<float> mean, std::span<const float> streams, const HyperShape &shape,
               std::int64_t rows, std::int64_t stride, CudaQueue &queue)
{
    if (rows == 0)
        return;
    meanKernel<<<static_cast<unsigned>(rows), kThreads, 0, queue.stream()>>>(
        mean.data(), streams.data(), stride, static_cast<int>(shape.hidden));
    checkLaunch("meanKernel");
}

} // namespace firesteel::kernels::cuda
