// SPDX-License-Identifier: MIT
#include "engine/tools/inspect.h"

#include "engine/base/printable.h"
#include "engine/tools/model_report.h"

#include <algorithm>
#include <array>
#include <format>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace firesteel::engine {

namespace {

using nlohmann::ordered_json;

constexpr int kMaxContext = 1 << 30;

// 1234567 -> "1,234,567"
std::string grouped(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::size_t i = text.size(); i > 3; i -= 3)
        text.insert(i - 3, ",");
    return text;
}

std::vector<int> defaultContexts(const ModelShape &shape)
{
    std::set<int> contexts { shape.maxPositionEmbeddings };
    for (const int tokens : { 8192, 32768, 131072 }) {
        if (tokens < shape.maxPositionEmbeddings)
            contexts.insert(tokens);
    }
    return { contexts.begin(), contexts.end() };
}

// Names of the memory's parts, for both forms of output.
std::array<std::pair<const char *, std::uint64_t>, 6> partsOf(const SequenceMemory &memory)
{
    return { { { "latents", memory.latents },
               { "pooled index keys", memory.pooledKeys },
               { "index tails", memory.indexTails },
               { "KDA state", memory.kdaState },
               { "convolution windows", memory.kdaWindow },
               { "verification rows", memory.kdaRecords } } };
}

std::string headText(const Checkpoint &checkpoint)
{
    const ModelShape &shape = checkpoint.shape();
    const auto kda = std::ranges::count(shape.attention, AttentionKind::Kda);
    const auto dense = std::ranges::count(shape.mlp, MlpKind::Dense);
    std::string text = std::format(
        "{}\nglm5_next: {} layers ({} KDA, {} MLA; {} dense, {} sparse), hidden {}, vocabulary {}, "
        "context up to {}\n",
        printable(checkpoint.directory().string()), shape.layerCount, kda, shape.layerCount - kda,
        dense, shape.layerCount - dense, shape.hiddenSize, shape.vocabularySize,
        grouped(static_cast<std::uint64_t>(shape.maxPositionEmbeddings)));
    text += std::format(
        "experts {} (top {}), KDA heads {} x {}, MLA heads {}, latent {}, index top {} "
        "in pools of {}, vision {}, MTP layers {}\n",
        shape.moe.experts, shape.moe.expertsPerToken, shape.kda.heads, shape.kda.headDim,
        shape.mla.heads, shape.mla.kvLoraRank, shape.indexer.topK, shape.indexer.pool,
        shape.hasVision ? "yes" : "no", shape.mtpLayerCount);
    return text;
}

std::string tensorTable(const Checkpoint &checkpoint, bool collapse)
{
    const auto groups = groupTensors(checkpoint, collapse);
    std::size_t nameWidth = 4;
    std::size_t shapeWidth = 5;
    for (const TensorGroup &group : groups) {
        nameWidth = std::max(nameWidth, printable(group.name).size());
        shapeWidth = std::max(shapeWidth, shapeText(group.shape).size());
    }
    std::string text = std::format("\n{:<{}}  {:<7}  {:<{}}  {:>6}  {:>15}  file\n", "tensor",
                                   nameWidth, "dtype", "shape", shapeWidth, "count", "bytes");
    for (const TensorGroup &group : groups)
        text += std::format("{:<{}}  {:<7}  {:<{}}  {:>6}  {:>15}  {}\n", printable(group.name),
                            nameWidth, tensorTypeName(group.type), shapeText(group.shape),
                            shapeWidth, group.count, grouped(group.bytes), printable(group.file));
    return text;
}

std::string componentTable(const ModelReport &report)
{
    std::string text = std::format("\n{:<16}  {:>8}  {:>17}  {:>17}\n", "component", "tensors",
                                   "parameters", "bytes");
    const auto addRow = [&text](std::string_view name, const ModelReport::Part &part) {
        text += std::format("{:<16}  {:>8}  {:>17}  {:>17}\n", name, grouped(part.tensors),
                            grouped(part.parameters), grouped(part.bytes));
    };
    for (std::size_t i = 0; i < report.parts.size(); ++i) {
        if (report.parts.at(i).tensors > 0)
            addRow(componentName(static_cast<Component>(i)), report.parts.at(i));
    }
    addRow("total", report.total);
    return text;
}

std::string rateTable(const ModelReport &report)
{
    std::string text;
    for (std::size_t i = 0; i < report.rates.size(); ++i)
        for (const auto &[rate, part] : report.rates.at(i))
            text += std::format("{:<16}  {:>8}  {:>17}  {:>17}\n",
                                componentName(static_cast<Component>(i)), rate,
                                grouped(part.modules), grouped(part.bytes));
    if (text.empty())
        return text;
    return std::format("\n{:<16}  {:>8}  {:>17}  {:>17}\n", "EXL3", "bits", "modules", "bytes")
        + text;
}

std::string memoryTable(const ModelReport &report, const ModelShape &shape)
{
    std::string text;
    for (const ModelReport::Context &context : report.contexts) {
        text += std::format("\n{:<22}  {:>17}  {:>17}\n",
                            grouped(static_cast<std::uint64_t>(context.tokens)) + " tokens",
                            "BF16 caches", "CPU, float32");
        const auto compact = partsOf(context.compact);
        const auto cpu = partsOf(context.cpu);
        for (std::size_t i = 0; i < compact.size(); ++i)
            text += std::format("{:<22}  {:>17}  {:>17}\n", compact.at(i).first,
                                grouped(compact.at(i).second), grouped(cpu.at(i).second));
        text += std::format("{:<22}  {:>17}  {:>17}\n", "one sequence",
                            grouped(context.compact.total()), grouped(context.cpu.total()));
        text += std::format("{:<22}  {:>17}  {:>17}\n", "with the weights",
                            grouped(context.compact.total() + report.total.bytes),
                            grouped(context.cpu.total() + report.total.bytes));
        if (context.tokens > shape.maxPositionEmbeddings)
            text += std::format("more than the model's {} tokens\n",
                                grouped(static_cast<std::uint64_t>(shape.maxPositionEmbeddings)));
    }
    return text;
}

std::string listing(std::string_view title, const std::vector<std::string> &items)
{
    if (items.empty())
        return {};
    std::string text = std::format("\n{} ({}):\n", title, items.size());
    for (const std::string &item : items)
        text += std::format("  {}\n", printable(item));
    return text;
}

std::string reportText(const Checkpoint &checkpoint, const ModelReport &report, bool collapse)
{
    std::string text = headText(checkpoint) + tensorTable(checkpoint, collapse)
        + componentTable(report) + rateTable(report) + memoryTable(report, checkpoint.shape())
        + listing("unknown config fields", checkpoint.unknownConfigFields())
        + listing("tensors that glm5_next does not have", report.unexpected)
        + listing("differences from the published EXL3 pack of 2.05 bits", report.packDifferences);
    if (!report.problems.empty())
        text += "\n";
    for (const Error &problem : report.problems)
        text += std::format("error: {}\n", problem.message);
    return text;
}

ordered_json partJson(const ModelReport::Part &part)
{
    return { { "tensors", part.tensors },
             { "parameters", part.parameters },
             { "bytes", part.bytes } };
}

ordered_json memoryJson(const SequenceMemory &memory)
{
    ordered_json json = ordered_json::object();
    for (const auto &[name, bytes] : partsOf(memory))
        json[name] = bytes;
    json["total"] = memory.total();
    return json;
}

std::string reportJson(const Checkpoint &checkpoint, const ModelReport &report)
{
    ordered_json json = { { "model", checkpoint.directory().string() },
                          { "layers", checkpoint.shape().layerCount },
                          { "max_context", checkpoint.shape().maxPositionEmbeddings },
                          { "components", ordered_json::object() },
                          { "total", partJson(report.total) },
                          { "contexts", ordered_json::array() },
                          { "unknown_config_fields", checkpoint.unknownConfigFields() },
                          { "unexpected_tensors", report.unexpected },
                          { "exl3_modules", ordered_json::array() },
                          { "pack_differences", report.packDifferences },
                          { "problems", ordered_json::array() },
                          { "tensors", ordered_json::array() } };
    for (std::size_t i = 0; i < report.parts.size(); ++i)
        json["components"][componentName(static_cast<Component>(i))] = partJson(report.parts.at(i));
    for (std::size_t i = 0; i < report.rates.size(); ++i)
        for (const auto &[rate, part] : report.rates.at(i))
            json["exl3_modules"].push_back(
                { { "component", componentName(static_cast<Component>(i)) },
                  { "bits", rate },
                  { "modules", part.modules },
                  { "bytes", part.bytes } });
    for (const ModelReport::Context &context : report.contexts)
        json["contexts"].push_back({ { "tokens", context.tokens },
                                     { "bf16_caches", memoryJson(context.compact) },
                                     { "cpu_float32", memoryJson(context.cpu) } });
    for (const Error &problem : report.problems)
        json["problems"].push_back(problem.message);
    for (const auto &[name, tensor] : checkpoint.tensors())
        json["tensors"].push_back({ { "name", name },
                                    { "dtype", tensorTypeName(tensor.entry->type) },
                                    { "shape", tensor.entry->shape },
                                    { "bytes", tensor.entry->bytes.size() },
                                    { "file", tensor.file->filename().string() } });
    // File names may be any bytes.
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

Result<Inspection> inspectModel(const InspectOptions &options)
{
    for (const int tokens : options.contexts) {
        if (tokens < 1 || tokens > kMaxContext)
            return fail(ErrorCode::BadRequest,
                        std::format("a context of {} tokens is out of range, 1 to {} are possible",
                                    tokens, kMaxContext));
    }
    const auto checkpoint = Checkpoint::open(options.model);
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    const std::vector<int> contexts
        = options.contexts.empty() ? defaultContexts(checkpoint->shape()) : options.contexts;
    const ModelReport report = reportOn(*checkpoint, contexts);
    return Inspection {
        .text = options.printsJson ? reportJson(*checkpoint, report)
                                   : reportText(*checkpoint, report, !options.listsEveryTensor),
        .isUsable = report.problems.empty(),
    };
}

} // namespace firesteel::engine
