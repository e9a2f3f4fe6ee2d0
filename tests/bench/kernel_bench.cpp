// SPDX-License-Identifier: MIT
//
// Times kernels on the GPU at the real model's shapes; a CSV line per case.
//
//     kernel_bench --commit HASH --driver VERSION [--sms N] [--class decode|prefill]
//                  [--case TEXT] [--rows N] [--seconds S] [--once]
//
// --sms limits persistent grids, to measure as on a smaller GPU. Launches are recorded once and
// replayed; a sample is the time of one replay over its launches. packed_gbs counts trellis bytes
// only, `fraction` relates it to what reading alone reaches on the same multiprocessors in the same
// run; mma_fraction relates the flops to what mma.sync alone reaches there. --once launches each
// case once, for a profiler.
#include "tests/bench/device_probe.h"
#include "tests/bench/kernel_cases.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <format>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace firesteel;
using namespace firesteel::kernels;
using bench::KernelCase;

struct Options
{
    std::string commit = "unknown";
    std::string driver = "unknown";
    std::string name; // part of the cases' names; empty means all
    std::optional<RowClass> rowClass;
    std::int64_t rows = 0; // 0 means all
    int multiprocessors = 0; // 0 means all
    double seconds = 0.15; // per case
    bool once = false;
};

// Whole numbers and decimals; nothing when `text` is not one.
std::optional<double> number(std::string_view text)
{
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc {} || result.ptr != text.data() + text.size())
        return {};
    return value;
}

std::optional<Options> readOptions(int argc, char **argv)
{
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--once") {
            options.once = true;
            continue;
        }
        if (i + 1 == argc)
            return {};
        const std::string_view value = argv[++i];
        const std::optional<double> count = number(value);
        if (name == "--commit")
            options.commit = value;
        else if (name == "--driver")
            options.driver = value;
        else if (name == "--case")
            options.name = value;
        else if (name == "--class" && (value == "decode" || value == "prefill"))
            options.rowClass = value == "decode" ? RowClass::Decode : RowClass::Prefill;
        else if (name == "--rows" && count)
            options.rows = static_cast<std::int64_t>(*count);
        else if (name == "--sms" && count)
            options.multiprocessors = static_cast<int>(*count);
        else if (name == "--seconds" && count)
            options.seconds = *count;
        else
            return {};
    }
    return options;
}

struct Samples
{
    double median = 0, p10 = 0, p90 = 0; // microseconds per launch
};

Samples measure(bench::Workload &workload, RowClass rowClass, Stream &stream, double seconds)
{
    CudaQueue &queue = stream.cuda();
    const int launches = std::max(workload.turns(), rowClass == RowClass::Decode ? 8 : 2);
    workload.enqueue(0); // loads the module
    const DeviceGraph graph(queue, [&] {
        for (int turn = 0; turn < launches; ++turn)
            workload.enqueue(turn);
    });
    DeviceTimer timer;
    const auto sample = [&] {
        timer.start(queue);
        graph.launch(queue);
        return timer.stop(queue) / launches;
    };
    sample();
    const double estimate = sample() * launches;
    const auto count = static_cast<std::size_t>(std::clamp(seconds * 1e6 / estimate, 9.0, 200.0));
    std::vector<double> samples;
    while (samples.size() < count)
        samples.push_back(sample());
    std::ranges::sort(samples);
    return { .median = samples[count / 2],
             .p10 = samples[count / 10],
             .p90 = samples[count - 1 - count / 10] };
}

bool isWanted(const KernelCase &c, const Options &options)
{
    return (!options.rowClass || c.rowClass == *options.rowClass)
        && c.name.find(options.name) != std::string::npos
        && (options.rows == 0 || c.rows == options.rows);
}

void run(const Options &options)
{
    const DeviceSearch search = findDevice();
    if (!search.device)
        throw DeviceError(search.reason, false);
    Stream stream(1, openCudaQueue(options.multiprocessors));
    const int multiprocessors = options.multiprocessors > 0
        ? std::min(options.multiprocessors, search.device->multiprocessors)
        : search.device->multiprocessors;
    double ceiling = 0;
    double multiplyCeiling = 0;
    if (!options.once) {
        DeviceMemory memory(std::size_t { 1 } << 30);
        bench::fillRandom(memory, 1, stream.cuda());
        ceiling = bench::readBandwidth(memory, stream.cuda());
        multiplyCeiling = bench::multiplyRate(stream.cuda());
    }
    std::cout << "commit,device,driver,sms,class,case,in,out,rate,rows,distinct,packed_bytes,bytes,"
                 "flops,median_us,p10_us,p90_us,packed_gbs,read_gbs,fraction,tflops,mma_tflops,"
                 "mma_fraction\n";
    std::vector<KernelCase> cases = bench::decodeCases();
    std::ranges::move(bench::prefillCases(), std::back_inserter(cases));
    for (const KernelCase &c : cases) {
        if (!isWanted(c, options))
            continue;
        const auto workload = c.prepare(stream);
        if (options.once) {
            workload->enqueue(0);
            synchronize(stream.cuda());
            continue;
        }
        const Samples samples = measure(*workload, c.rowClass, stream, options.seconds);
        const double rate = c.packedBytes / samples.median * 1e-3;
        const double tflops = c.flops / samples.median * 1e-6;
        std::cout << std::format(
            "{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{:.0f},{:.2f},{:.2f},{:.2f},{:.1f},"
            "{:.1f},{:.3f},{:.2f},{:.1f},{:.3f}\n",
            options.commit, search.device->name, options.driver, multiprocessors,
            c.rowClass == RowClass::Decode ? "decode" : "prefill", c.name, c.in, c.out, c.rate,
            c.rows, c.distinctExperts, c.packedBytes, c.bytes, c.flops, samples.median, samples.p10,
            samples.p90, rate, ceiling, rate / ceiling, tflops, multiplyCeiling,
            tflops / multiplyCeiling)
                  << std::flush;
    }
}

} // namespace

int main(int argc, char **argv)
{
    const std::optional<Options> options = readOptions(argc, argv);
    if (!options) {
        std::cerr << "usage: kernel_bench [--commit HASH] [--driver VERSION] [--sms N] "
                     "[--class decode|prefill] [--case TEXT] [--rows N] [--seconds S] [--once]\n";
        return 2;
    }
    try {
        run(*options);
    } catch (const std::exception &error) {
        std::cerr << "kernel_bench: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
