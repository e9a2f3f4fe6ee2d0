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

} // namespace firesteel::bench
