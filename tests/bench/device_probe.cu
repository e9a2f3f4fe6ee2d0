// SPDX-License-Identifier: MIT
#include "kernels/common/cuda_queue.cuh"
#include "tests/bench/device_probe.h"

#include <algorithm>
#include <vector>

namespace firesteel::bench {

using namespace kernels;

namespace {

constexpr int kThreads = 512;
constexpr int kLoads = 4; // 64 bytes a thread in flight, 64 KB a multiprocessor

__global__ void bench_fill_random_kernel(std::uint64_t *words, std::size_t count,
                                         std::uint64_t seed)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ULL; // SplitMix64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        words[i] = z ^ (z >> 31);
    }
}

__global__ void __launch_bounds__(kThreads, 2)
    bench_read_kernel(const uint4 *values, std::size_t count, unsigned *sink)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads * kLoads;
    unsigned sum = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads * kLoads + threadIdx.x;
         i + (kLoads - 1) * kThreads < count; i += stride) {
        uint4 loaded[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j)
            loaded[j] = __ldcs(values + i + static_cast<std::size_t>(j) * kThreads);
#pragma unroll
        for (const uint4 &value : loaded)
            sum += value.x ^ value.y ^ value.z ^ value.w;
    }
    if (sum == 0x12345678U)
        *sink = sum;
}

constexpr int kMultiplyThreads = 512;
constexpr int kMultiplyChains = 16; // independent sums of a warp
constexpr int kMultiplyLaps = 4000;

__global__ void __launch_bounds__(kMultiplyThreads, 1) bench_multiply_kernel(float *sink)
{
    // Operands of either sign and no zeros: the power that products draw depends on their bits.
    unsigned a[4];
    unsigned b[2];
    for (int i = 0; i < 4; ++i)
        a[i] = 0x3C013A55U + threadIdx.x * 0x00110013U + i * 0x8000U;
    for (int i = 0; i < 2; ++i)
        b[i] = 0xB9AA3BF1U + threadIdx.x * 0x00070005U + i * 0x80000000U;
    float sums[kMultiplyChains][4] = {};
    for (int lap = 0; lap < kMultiplyLaps; ++lap)
#pragma unroll
        for (auto &c : sums)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    float total = 0;
    for (const auto &c : sums)
        total += c[0] + c[1] + c[2] + c[3];
    if (total == 0.123F)
        *sink = total;
}

} // namespace

void fillRandom(DeviceMemory &memory, std::uint64_t seed, CudaQueue &queue)
{
    const auto words = memory.as<std::uint64_t>();
    bench_fill_random_kernel<<<1024, 256, 0, queue.stream()>>>(words.data(), words.size(), seed);
    checkLaunch("bench_fill_random_kernel");
}

double readBandwidth(const DeviceMemory &memory, CudaQueue &queue)
{
    const auto values = memory.as<uint4>();
    DeviceMemory sink(sizeof(unsigned));
    DeviceTimer timer;
    std::vector<double> rates;
    for (int i = 0; i < 12; ++i) {
        timer.start(queue);
        bench_read_kernel<<<static_cast<unsigned>(2 * queue.multiprocessors()), kThreads, 0,
                            queue.stream()>>>(values.data(), values.size(),
                                              sink.as<unsigned>().data());
        checkLaunch("bench_read_kernel");
        rates.push_back(static_cast<double>(values.size_bytes()) / timer.stop(queue) * 1e-3);
    }
    std::ranges::nth_element(rates, rates.begin() + 6);
    return rates[6];
}

double multiplyRate(CudaQueue &queue)
{
    DeviceMemory sink(sizeof(float));
    DeviceTimer timer;
    std::vector<double> rates;
    constexpr double kFlops
        = 2.0 * 16 * 8 * 16 * kMultiplyChains * kMultiplyLaps * (kMultiplyThreads / 32);
    for (int i = 0; i < 12; ++i) {
        timer.start(queue);
        bench_multiply_kernel<<<static_cast<unsigned>(queue.multiprocessors()), kMultiplyThreads, 0,
                                queue.stream()>>>(sink.as<float>().data());
        checkLaunch("bench_multiply_kernel");
        rates.push_back(kFlops * queue.multiprocessors() / timer.stop(queue) * 1e-6);
    }
    std::ranges::nth_element(rates, rates.begin() + 6);
    return rates[6];
}

} // namespace firesteel::bench
