// SPDX-License-Identifier: MIT
//
// Time of the quantizer's trellis search at every rate: tiles that fill the GPU eight times over,
// and one tile on one CPU thread. CSV on standard output.
#include "kernels/common/device.h"
#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi.h"
#include "tests/support/random_values.h"
#include "tests/support/tensor_values.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

using namespace firesteel;

namespace {

constexpr int kRepeats = 7;

std::vector<float> randomTiles(std::size_t count)
{
    test::RandomValues random(1);
    std::vector<float> tiles(count * kernels::kExl3TileSize);
    for (float &value : tiles)
        value = test::normal(random);
    return tiles;
}

// Tiles in host memory are searched by the CPU in place; on a GPU the copies are not timed.
double medianSeconds(const std::vector<float> &tiles, int rate, kernels::Stream &stream)
{
    const auto count = static_cast<std::int64_t>(tiles.size() / kernels::kExl3TileSize);
    const bool isGpu = stream.backend() == kernels::Backend::Cuda;
    std::vector<std::uint16_t> hostStates(tiles.size());
    kernels::DeviceMemory deviceTiles;
    kernels::DeviceMemory deviceStates;
    kernels::DeviceMemory scratch;
    std::span<const float> in = tiles;
    std::span<std::uint16_t> out = hostStates;
    if (isGpu) {
        deviceTiles = kernels::toDevice(in, stream.cuda());
        deviceStates = kernels::DeviceMemory(out.size_bytes());
        scratch = kernels::DeviceMemory(kernels::exl3ViterbiScratchBytes(count, rate, stream));
        in = deviceTiles.as<float>().first(in.size());
        out = deviceStates.as<std::uint16_t>().first(out.size());
    }
    std::vector<double> seconds;
    for (int i = 0; i <= kRepeats; ++i) { // the first warms up
        const auto start = std::chrono::steady_clock::now();
        kernels::launchExl3Viterbi(out, in, rate, kernels::Exl3Codebook::Mul1,
                                   { scratch.as<std::byte>() }, stream);
        if (isGpu)
            kernels::synchronize(stream.cuda());
        if (i > 0)
            seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + kRepeats / 2);
    return seconds[kRepeats / 2];
}

void report(const char *device, int rate, std::size_t tiles, double seconds)
{
    std::printf("%s,%d,%zu,%.6f,%.0f\n", device, rate, tiles, seconds,
                static_cast<double>(tiles) / seconds);
    std::fflush(stdout);
}

} // namespace

int main()
{
    std::puts("device,rate,tiles,seconds,tiles_per_second");
    const auto device = kernels::findDevice().device;
    for (int rate = 1; rate <= kernels::kExl3MaxRate; ++rate) {
        if (device) {
            kernels::Stream gpu(1, kernels::openCudaQueue());
            const auto count = static_cast<std::size_t>(8 * device->multiprocessors);
            report(device->name.c_str(), rate, count, medianSeconds(randomTiles(count), rate, gpu));
        }
        kernels::Stream cpu(1);
        report("CPU thread", rate, 4, medianSeconds(randomTiles(4), rate, cpu));
    }
    return 0;
}
