// SPDX-License-Identifier: MIT
//
// Our EXL3 kernels on the tensors of a file, for peer_exllamav3.py: writes the result, prints the
// time of a call as JSON.
//
//     exl3_apply linear-decode|linear-prefill|experts-decode|experts-prefill CASE.safetensors Y.bin
//                [--working-set BYTES] [--sms N]
//
// CASE: x F32 [rows, in] and trellis, suh, svh (mul1); for experts also experts I32 and weights F32
// [rows, top k], and gate., up., down. before the parts of stacked matrices. Y: float32 rows.
#include "engine/checkpoint/safe_tensors.h"
#include "kernels/common/device.h"
#include "kernels/common/stream.h"
#include "kernels/exl3/exl3.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace firesteel;
using namespace firesteel::kernels;

namespace {

constexpr float kSwigluLimit = 10;
constexpr int kRepeats = 60;

struct Case
{
    engine::SafeTensors file;
    CudaQueue &queue;

    const engine::TensorEntry &entry(const std::string &name) const
    {
        const auto found = file.entries().find(name);
        if (found == file.entries().end())
            throw std::runtime_error("the case has no tensor " + name);
        return found->second;
    }
    DeviceMemory onDevice(const std::string &name) const
    {
        return toDevice(entry(name).bytes, queue);
    }
};

// One matrix, or the first of several stacked ones, with the memory it lies in.
struct Stacked
{
    DeviceMemory trellis, suh, svh;
    Exl3Matrix first;

    Stacked(const Case &input, const std::string &prefix)
        : trellis(input.onDevice(prefix + "trellis"))
        , suh(input.onDevice(prefix + "suh"))
        , svh(input.onDevice(prefix + "svh"))
    {
        const std::vector<std::int64_t> &shape = input.entry(prefix + "trellis").shape;
        if (shape.size() < 3)
            throw std::runtime_error(prefix + "trellis has fewer than three dimensions");
        const std::size_t axis = shape.size() - 3;
        first = { .trellis = trellis.as<std::uint16_t>().data(),
                  .suh = suh.as<std::uint16_t>().data(),
                  .svh = svh.as<std::uint16_t>().data(),
                  .bias = nullptr,
                  .in = static_cast<std::int32_t>(shape[axis] * kExl3Tile),
                  .out = static_cast<std::int32_t>(shape[axis + 1] * kExl3Tile),
                  .rate = static_cast<std::uint8_t>(shape[axis + 2] / kExl3Tile),
                  .codebook = Exl3Codebook::Mul1 };
    }
    Exl3Matrix at(std::size_t index) const
    {
        Exl3Matrix m = first;
        m.trellis += index * exl3TrellisBytes(m) / sizeof(std::uint16_t);
        m.suh += index * static_cast<std::size_t>(m.in);
        m.svh += index * static_cast<std::size_t>(m.out);
        return m;
    }
};

// Median microseconds of one call over replays of a recorded graph that makes `calls` of them.
double medianMicroseconds(CudaQueue &queue, int calls, const std::function<void(int)> &call)
{
    call(0);
    const DeviceGraph graph(queue, [&] {
        for (int i = 0; i < calls; ++i)
            call(i);
    });
    graph.launch(queue);
    std::vector<double> times(static_cast<std::size_t>(std::max(5, kRepeats / calls)));
    DeviceTimer timer;
    for (double &time : times) {
        timer.start(queue);
        graph.launch(queue);
        time = timer.stop(queue) / calls;
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

struct Result
{
    double microseconds = 0;
    std::vector<float> y;
};

Result read(double microseconds, const DeviceMemory &y, CudaQueue &queue)
{
    Result result { .microseconds = microseconds, .y = std::vector<float>(y.bytes() / 4) };
    copyToHost(result.y.data(), y.data(), y.bytes(), queue);
    return result;
}

Result runLinear(const Case &input, RowClass rowClass, std::size_t workingSet, Stream &stream)
{
    const Stacked weights(input, "");
    const DeviceMemory x = input.onDevice("x");
    const std::int64_t rows = input.entry("x").shape.at(0);
    const Exl3Matrix m = weights.first;
    // Copies of the trellis, so that a call finds nothing of it in the L2.
    const std::size_t bytes = exl3TrellisBytes(m);
    const std::size_t count = std::clamp<std::size_t>(workingSet / bytes, 1, 64);
    std::vector<DeviceMemory> copies;
    copies.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        copies.push_back(toDevice(input.entry("trellis").bytes, stream.cuda()));
    const DeviceMemory scratch(exl3LinearScratchBytes(m, rows, rowClass, stream));
    const DeviceMemory y(static_cast<std::size_t>(rows * m.out) * sizeof(float));
    const double time = medianMicroseconds(stream.cuda(), static_cast<int>(count), [&](int i) {
        Exl3Matrix copy = m;
        copy.trellis = copies[static_cast<std::size_t>(i)].as<std::uint16_t>().data();
        launchExl3Linear(y.as<float>(), x.as<float>(), copy, rows, rowClass,
                         { scratch.as<std::byte>() }, stream);
    });
    return read(time, y, stream.cuda());
}

Result runExperts(const Case &input, RowClass rowClass, Stream &stream)
{
    const Stacked gate(input, "gate.");
    const Stacked up(input, "up.");
    const Stacked down(input, "down.");
    const std::int64_t count = input.entry("gate.trellis").shape.at(0);
    std::vector<Exl3Expert> table;
    table.reserve(static_cast<std::size_t>(count));
    for (std::size_t e = 0; e < static_cast<std::size_t>(count); ++e)
        table.push_back({ gate.at(e), up.at(e), down.at(e) });
    const DeviceMemory deviceTable = toDevice(std::span<const Exl3Expert>(table), stream.cuda());
    const DeviceMemory x = input.onDevice("x");
    const DeviceMemory experts = input.onDevice("experts");
    const DeviceMemory weights = input.onDevice("weights");
    const std::int64_t rows = input.entry("x").shape.at(0);
    const Exl3MoeShape shape { .hidden = gate.first.in,
                               .width = gate.first.out,
                               .experts = count,
                               .expertsPerToken = input.entry("experts").shape.at(1),
                               .swigluLimit = kSwigluLimit,
                               .gateRate = gate.first.rate,
                               .upRate = up.first.rate,
                               .downRate = down.first.rate,
                               .codebook = Exl3Codebook::Mul1 };
    const DeviceMemory scratch(exl3ExpertsScratchBytes(shape, rows, rowClass, stream));
    const DeviceMemory y(static_cast<std::size_t>(rows * shape.hidden) * sizeof(float));
    const double time = medianMicroseconds(stream.cuda(), 4, [&](int) {
        launchExl3Experts(y.as<float>(), x.as<float>(), experts.as<std::int32_t>(),
                          weights.as<float>(), deviceTable.as<Exl3Expert>(), shape, rows, rowClass,
                          { scratch.as<std::byte>() }, stream);
    });
    return read(time, y, stream.cuda());
}

int run(std::span<const std::string> arguments)
{
    if (arguments.size() < 3)
        throw std::runtime_error("usage: exl3_apply KIND CASE.safetensors Y.bin "
                                 "[--working-set BYTES] [--sms N]");
    std::size_t workingSet = 0;
    int multiprocessors = 0;
    for (std::size_t i = 3; i + 1 < arguments.size(); i += 2) {
        if (arguments[i] == "--working-set")
            workingSet = std::stoull(arguments[i + 1]);
        else if (arguments[i] == "--sms")
            multiprocessors = std::stoi(arguments[i + 1]);
        else
            throw std::runtime_error("unknown option " + arguments[i]);
    }
    auto file = engine::SafeTensors::open(arguments[1]);
    if (!file)
        throw std::runtime_error(file.error().message);
    Stream stream(1, openCudaQueue(multiprocessors));
    const Case input { std::move(*file), stream.cuda() };
    const std::string &kind = arguments[0];
    const RowClass rowClass = kind.ends_with("-decode") ? RowClass::Decode : RowClass::Prefill;
    const Result result = kind.starts_with("experts-")
        ? runExperts(input, rowClass, stream)
        : runLinear(input, rowClass, workingSet, stream);
    std::ofstream out(arguments[2], std::ios::binary);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(result.y));
    out.write(reinterpret_cast<const char *>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out.flush())
        throw std::runtime_error("cannot write " + arguments[2]);
    std::cout << "{\"microseconds\": " << result.microseconds << "}\n";
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception &error) {
        std::cerr << "exl3_apply: " << error.what() << '\n';
        return 1;
    }
}
