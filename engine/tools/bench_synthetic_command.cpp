// SPDX-License-Identifier: MIT
#include "engine/tools/bench_synthetic_command.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/model/model.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_terminal.h"
#include "engine/tools/synth.h"
#include "engine/tools/synth_shapes.h"
#include "kernels/common/device.h"
#include "kernels/common/stream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <format>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace firesteel::engine {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 4; // the second of them is recorded
constexpr int kSteps = 24;
constexpr int kLoadingTokens = 4096;
constexpr int kLongPrompt = 32'768; // takes long enough to be measured once

// A folder that goes away with its owner.
class ScratchFolder
{
public:
    ScratchFolder()
        : m_path(std::filesystem::temp_directory_path()
                 / std::format("firesteel-bench-{}", Clock::now().time_since_epoch().count()))
    {
    }
    ~ScratchFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    ScratchFolder(const ScratchFolder &) = delete;
    ScratchFolder &operator=(const ScratchFolder &) = delete;
    const std::filesystem::path &path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

// A model of a named shape with random weights on the GPU.
struct SyntheticModel
{
    kernels::DeviceFacts device;
    ScratchFolder folder; // headers; the tensors' bytes are holes
    std::unique_ptr<Checkpoint> checkpoint;
    std::unique_ptr<kernels::Stream> stream;
    std::unique_ptr<Model> model;
    double loadSeconds = 0;
};

Result<std::unique_ptr<SyntheticModel>> makeModel(const CliOptions &options)
{
    const kernels::DeviceSearch search = kernels::findDevice();
    if (!search.device)
        return fail(ErrorCode::BadRequest,
                    "This benchmark needs a GPU that the kernels run on. " + search.reason);
    std::optional<ModelShape> shape = namedShape(options.shapeName);
    if (!shape)
        return fail(ErrorCode::BadRequest,
                    std::format("--synthetic: '{}' is unknown; glm-5.3-flash and glimmer are known",
                                options.shapeName));
    if (options.layers) {
        if (*options.layers < kLeastLayers || *options.layers > shape->layerCount)
            return fail(
                ErrorCode::BadRequest,
                std::format("--layers: {} to {} are possible", kLeastLayers, shape->layerCount));
        shape = firstLayers(std::move(*shape), *options.layers);
    }
    auto result = std::make_unique<SyntheticModel>();
    result->device = *search.device;
    const auto written = writeSyntheticPack(
        { .shape = *shape, .out = result->folder.path(), .headersOnly = true }, {});
    if (!written)
        return std::unexpected(written.error());
    auto checkpoint = Checkpoint::open(result->folder.path());
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    result->checkpoint = std::make_unique<Checkpoint>(std::move(*checkpoint));
    result->stream = std::make_unique<kernels::Stream>(
        options.threads, kernels::openCudaQueue(options.multiprocessors));
    const Clock::time_point begin = Clock::now();
    auto model
        = Model::load(*result->checkpoint, *result->stream, {}, {}, 0, WeightContents::Random);
    if (!model)
        return std::unexpected(model.error());
    result->model = std::move(*model);
    kernels::synchronize(result->stream->cuda());
    result->loadSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return result;
}

// Experts of `rows` rows. Independent rows would choose E distinct experts of all; here they choose
// perToken + overlap (E - perToken), as rows of one text do (docs/speculation.md): every row takes
// its first choices from those of the first row.
std::vector<std::int32_t> routingOf(const ModelShape &shape, int rows, double overlap,
                                    std::uint64_t seed)
{
    const auto experts = static_cast<std::size_t>(shape.moe.experts);
    const auto perToken = static_cast<std::size_t>(shape.moe.expertsPerToken);
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> all(experts);
    std::iota(all.begin(), all.end(), 0);
    std::ranges::shuffle(all, random);
    // So many experts are to be hit; each row draws from them, the first rows cover them all.
    const auto choices = static_cast<double>(perToken);
    const auto count = static_cast<double>(experts);
    const double independent = count * (1 - std::pow(1 - choices / count, rows));
    const auto distinct = std::clamp(
        static_cast<std::size_t>(std::lround(choices + overlap * (independent - choices))),
        perToken, std::min(experts, perToken * static_cast<std::size_t>(rows)));
    std::vector<std::int32_t> result;
    std::size_t covered = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        const std::size_t left = static_cast<std::size_t>(rows) - row;
        const std::size_t fresh
            = row == 0 ? perToken : std::min(perToken, (distinct - covered + left - 1) / left);
        std::vector<std::int32_t> chosen;
        for (std::size_t i = 0; i < fresh && covered < distinct; ++i)
            chosen.push_back(all[covered++]);
        std::vector<std::int32_t> known(all.begin(),
                                        all.begin() + static_cast<std::ptrdiff_t>(covered));
        std::ranges::shuffle(known, random);
        for (const std::int32_t expert : known)
            if (chosen.size() < perToken && std::ranges::find(chosen, expert) == chosen.end())
                chosen.push_back(expert);
        result.insert(result.end(), chosen.begin(), chosen.end());
    }
    return result;
}

std::size_t distinctOf(std::vector<std::int32_t> experts)
{
    std::ranges::sort(experts);
    const auto repeated = std::ranges::unique(experts);
    experts.erase(repeated.begin(), repeated.end());
    return experts.size();
}

struct Spread
{
    double least = 0, median = 0, most = 0;
};

Spread spreadOf(std::vector<double> values)
{
    std::ranges::sort(values);
    return { values.front(), values[values.size() / 2], values.back() };
}

Json jsonOf(const Spread &spread)
{
    return { { "min", spread.least }, { "median", spread.median }, { "max", spread.most } };
}

Json headerOf(const SyntheticModel &m, const CliOptions &options)
{
    const kernels::DeviceRoom room = kernels::deviceRoom();
    return { { "device", m.device.name },
             { "multiprocessors",
               options.multiprocessors > 0 ? options.multiprocessors : m.device.multiprocessors },
             { "shape", options.shapeName },
             { "layers", m.model->shape().layerCount },
             { "weights", "random, of the published pack's rates" },
             { "weight_bytes", m.checkpoint->totalBytes() },
             { "workspace_bytes", m.model->workspaceBytes() },
             { "device_bytes_used", room.totalBytes - room.freeBytes },
             { "load_seconds", m.loadSeconds } };
}

// A sequence that is at `position`, with caches of plausible numbers.
SequenceState sequenceAt(SyntheticModel &m, int context, int position)
{
    SequenceState sequence = m.model->newSequence(context);
    constexpr unsigned char kPattern = 0x3C; // BF16 0.0115
    int mla = 0;
    for (const AttentionKind kind : m.model->shape().attention) {
        if (kind != AttentionKind::Mla)
            continue;
        KvCache &cache = sequence.mla(mla++);
        for (const auto *buffer : { &cache.latents(), &cache.pooledKeys() })
            kernels::fillDevice(buffer->data(), kPattern, buffer->bytes(), m.stream->cuda());
    }
    sequence.appendCommitted(std::vector<std::int32_t>(static_cast<std::size_t>(position), 1));
    return sequence;
}

} // namespace

int runBenchDecode(const CliOptions &options)
{
    auto made = makeModel(options);
    if (!made)
        return reportError(made.error());
    SyntheticModel &m = **made;
    const ModelShape &shape = m.model->shape();
    std::vector<int> contexts = options.contextTokens > 0
        ? std::vector { options.contextTokens }
        : std::vector { 128, 32'768, 262'144, 1'048'576 };
    Json report = headerOf(m, options);
    report["overlap"] = options.overlap;
    Json rows = Json::array();
    std::vector<float> logits(static_cast<std::size_t>(kMaxDecodeRows)
                              * static_cast<std::size_t>(shape.vocabularySize));
    for (const int context : contexts) {
        const int position = std::min(context, shape.maxPositionEmbeddings - 1024);
        SequenceState sequence
            = sequenceAt(m, std::min(position + 1024, shape.maxPositionEmbeddings), position);
        for (const int count : options.rows) {
            const std::vector<std::int32_t> routing = routingOf(shape, count, options.overlap, 7);
            m.model->forceRouting(routing);
            const std::vector<std::int32_t> tokens(static_cast<std::size_t>(count), 1);
            const DecodeRows step { &sequence, tokens };
            std::vector<double> milliseconds;
            for (int i = 0; i < kWarmUps + kSteps; ++i) {
                const Clock::time_point begin = Clock::now();
                m.model->decode(
                    { &step, 1 },
                    std::span(logits).first(static_cast<std::size_t>(count)
                                            * static_cast<std::size_t>(shape.vocabularySize)));
                if (i >= kWarmUps)
                    milliseconds.push_back(
                        std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
                sequence.commit(1);
            }
            rows.push_back({ { "context", position },
                             { "rows", count },
                             { "distinct_experts", distinctOf(routing) },
                             { "state_bytes", sequence.bytes() },
                             { "step_ms", jsonOf(spreadOf(milliseconds)) } });
        }
    }
    report["device_bytes_used"]
        = kernels::deviceRoom().totalBytes - kernels::deviceRoom().freeBytes;
    report["steps"] = std::move(rows);
    return writeOutput(report.dump(1) + "\n") ? 0 : kExitFailure;
}

int runBenchPrefill(const CliOptions &options)
{
    auto made = makeModel(options);
    if (!made)
        return reportError(made.error());
    SyntheticModel &m = **made;
    const ModelShape &shape = m.model->shape();
    const int tokens = options.contextTokens > 0 ? options.contextTokens : 8192;
    SequenceState sequence = m.model->newSequence(tokens + 1);
    // Independent rows: long prompts reach every expert.
    m.model->forceRouting(routingOf(shape, 4096, 1.0, 7));
    const std::vector<std::int32_t> prompt(static_cast<std::size_t>(tokens), 1);
    const auto read = [&](int count) {
        sequence.clear();
        kernels::synchronize(m.stream->cuda());
        const Clock::time_point begin = Clock::now();
        m.model->prefill(sequence, std::span(prompt).first(static_cast<std::size_t>(count)), {});
        kernels::synchronize(m.stream->cuda());
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    read(std::min(tokens, kLoadingTokens)); // the first one loads the kernels
    const int runs = tokens > kLongPrompt ? 1 : 3;
    std::vector<double> seconds(static_cast<std::size_t>(runs));
    std::ranges::generate(seconds, [&] { return read(tokens); });
    Json report = headerOf(m, options);
    const Spread spread = spreadOf(seconds);
    report["prompt_tokens"] = tokens;
    report["seconds"] = jsonOf(spread);
    report["tokens_per_second"] = tokens / spread.median;
    return writeOutput(report.dump(1) + "\n") ? 0 : kExitFailure;
}

} // namespace firesteel::engine
