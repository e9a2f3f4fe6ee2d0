// SPDX-License-Identifier: MIT
#include "tests/support/tiny_checkpoint.h"

#include "engine/checkpoint/config_writer.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/tools/synth_values.h"
#include "kernels/exl3/exl3_codec.h"
#include "tests/support/exl3_vectors.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <format>
#include <nlohmann/json.hpp>

namespace firesteel::test {

using engine::AttentionKind;
using engine::MlpKind;
using engine::ModelShape;
using engine::TensorType;
using nlohmann::ordered_json;

namespace {

std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 0xCBF29CE484222325U; // FNV-1a
    for (const char character : text)
        hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001B3U;
    return hash;
}

template <typename T> std::string bytesOf(const std::vector<T> &values)
{
    return { reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T) };
}

void appendExl3Group(std::vector<TinyTensor> &tensors, const engine::ExpectedTensor &expected,
                     std::uint64_t seed)
{
    const std::string module(expected.module());
    const std::int64_t out = expected.shape[0];
    const std::int64_t in = expected.shape[1];
    Exl3Host host = randomExl3(seed ^ hashOf(module), static_cast<std::int32_t>(in),
                               static_cast<std::int32_t>(out), expected.packRate,
                               kernels::Exl3Codebook::Mul1);
    if (module == "lm_head") // favourites, as below
        for (std::uint16_t &scale : host.svh)
            scale = halfBits(3 * widened(scale));
    tensors.push_back({ module + ".trellis",
                        TensorType::I16,
                        { in / 16, out / 16, std::int64_t { 16 } * expected.packRate },
                        bytesOf(host.trellis) });
    tensors.push_back({ module + ".suh", TensorType::F16, { in }, bytesOf(host.suh) });
    tensors.push_back({ module + ".svh", TensorType::F16, { out }, bytesOf(host.svh) });
    tensors.push_back({ module + ".mul1",
                        TensorType::I32,
                        {},
                        bytesOf(std::vector { kernels::kExl3Mul1Multiplier }) });
}

// Consecutive runs of about equal size in bytes.
std::vector<std::vector<TinyTensor>> split(std::vector<TinyTensor> tensors, int shards)
{
    std::size_t total = 0;
    for (const TinyTensor &tensor : tensors)
        total += tensor.bytes.size();
    std::vector<std::vector<TinyTensor>> result(static_cast<std::size_t>(shards));
    std::size_t done = 0;
    for (TinyTensor &tensor : tensors) {
        const std::size_t shard = done * result.size() / total;
        done += tensor.bytes.size();
        result[shard].push_back(std::move(tensor));
    }
    return result;
}

} // namespace

ModelShape tinyShape()
{
    using enum AttentionKind;
    using enum MlpKind;
    ModelShape shape;
    shape.hiddenSize = 64;
    shape.layerCount = 5;
    shape.vocabularySize = 320;
    shape.maxPositionEmbeddings = 4096;
    shape.rmsNormEps = 1e-5F;
    shape.imageTokenId = kTinyFirstAddedToken + 34;
    shape.eosTokenIds
        = { kTinyFirstAddedToken, kTinyFirstAddedToken + 7, kTinyFirstAddedToken + 9 };
    shape.attention = { Kda, Kda, Mla, Kda, Mla };
    shape.mlp = { Dense, Sparse, Sparse, Sparse, Sparse };
    shape.hyper = { .streams = 4, .sinkhornIterations = 20, .eps = 1e-6F };
    shape.kda = { .heads = 2, .headDim = 16, .convKernel = 4, .gateLowerBound = -5 };
    shape.mla = { .heads = 2, .qLoraRank = 32, .kvLoraRank = 32, .qkHeadDim = 16, .vHeadDim = 16 };
    shape.indexer
        = { .heads = 2, .headDim = 16, .topK = 16, .pool = 4, .full = std::vector<bool>(5, true) };
    shape.moe = { .experts = 8,
                  .expertsPerToken = 2,
                  .sharedExperts = 1,
                  .expertWidth = 32,
                  .denseWidth = 96,
                  .routedScaling = 2.5F,
                  .swigluLimit = 10 };
    shape.vision = { .depth = 2,
                     .hiddenSize = 32,
                     .heads = 2,
                     .intermediateSize = 48,
                     .projectionSize = 64,
                     .channels = 3,
                     .patchSize = 14,
                     .temporalPatchSize = 2,
                     .mergeSize = 2 };
    return shape;
}

ModelShape tinyExl3Shape()
{
    ModelShape shape = tinyShape();
    shape.hiddenSize = 128;
    shape.vocabularySize = 384;
    shape.kda = { .heads = 2, .headDim = 64, .convKernel = 4, .gateLowerBound = -5 };
    shape.mla
        = { .heads = 2, .qLoraRank = 128, .kvLoraRank = 128, .qkHeadDim = 64, .vHeadDim = 64 };
    shape.indexer.headDim = 64;
    shape.moe.expertWidth = 128;
    shape.moe.denseWidth = 256;
    shape.vision.hiddenSize = 128;
    shape.vision.intermediateSize = 256;
    shape.vision.projectionSize = 128;
    return shape;
}

std::string tinyConfigJson(const ModelShape &shape, bool exl3)
{
    return engine::modelConfigJson(
        shape, exl3 ? std::optional(engine::PackFacts { .bits = 3, .headBits = 5 }) : std::nullopt);
}

std::vector<TinyTensor> tinyTensors(const TinyCheckpoint &options)
{
    std::vector<TinyTensor> tensors;
    const auto layout = options.exl3 ? options.exl3Layout : engine::TensorLayout::Released;
    for (engine::ExpectedTensor &expected : engine::expectedTensors(options.shape, layout)) {
        if (options.exl3 && expected.packRate > 0) {
            appendExl3Group(tensors, expected, options.seed);
            continue;
        }
        const engine::ValueDistribution distribution
            = engine::syntheticValues(expected.name, expected.shape);
        RandomValues random(options.seed ^ hashOf(expected.name));
        std::uint64_t count = 1;
        for (const std::int64_t size : expected.shape)
            count *= static_cast<std::uint64_t>(size);
        TinyTensor tensor {
            .name = std::move(expected.name), .type = options.type, .shape = {}, .bytes = {}
        };
        if (expected.packType == TensorType::F32 && !tensor.name.ends_with("_fn"))
            tensor.type = TensorType::F32;
        if (options.squeezeConvolutions && tensor.name.ends_with("conv1d.weight"))
            std::erase(expected.shape, 1);
        tensor.shape = std::move(expected.shape);
        for (std::uint64_t i = 0; i < count; ++i)
            appendElement(tensor.bytes, tensor.type,
                          distribution.mean + distribution.spread * normal(random));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<TinyTensor> decodedTensors(const std::vector<TinyTensor> &tensors)
{
    const auto find = [&](const std::string &name) {
        return std::ranges::find(tensors, name, &TinyTensor::name);
    };
    const auto words = [](const TinyTensor &tensor) {
        std::vector<std::uint16_t> values(tensor.bytes.size() / sizeof(std::uint16_t));
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
        return values;
    };
    kernels::ThreadPool pool(2);
    std::vector<TinyTensor> result;
    for (const TinyTensor &tensor : tensors) {
        constexpr std::string_view kTrellis = ".trellis";
        const std::string module = tensor.name.substr(0, tensor.name.rfind('.'));
        if (!tensor.name.ends_with(kTrellis)) {
            if (find(module + std::string(kTrellis)) == tensors.end())
                result.push_back(tensor);
            continue;
        }
        Exl3Host host { .trellis = words(tensor),
                        .suh = words(*find(module + ".suh")),
                        .svh = words(*find(module + ".svh")),
                        .bias = {},
                        .shape = {} };
        host.shape.in = static_cast<std::int32_t>(host.suh.size());
        host.shape.out = static_cast<std::int32_t>(host.svh.size());
        host.shape.rate = static_cast<std::uint8_t>(tensor.shape[2] / 16);
        std::vector<float> weights(host.suh.size() * host.svh.size());
        kernels::dequantizeExl3(weights, host.matrix(), pool);
        result.push_back({ module + ".weight",
                           TensorType::F32,
                           { host.shape.out, host.shape.in },
                           bytesOf(weights) });
    }
    return result;
}

void writeSafeTensors(const std::filesystem::path &path, const std::vector<TinyTensor> &tensors,
                      bool misaligned)
{
    ordered_json header = { { "__metadata__", { { "format", "pt" } } } };
    std::string data;
    for (const TinyTensor &tensor : tensors) {
        const std::size_t begin = data.size();
        data += tensor.bytes;
        header[tensor.name] = { { "dtype", engine::tensorTypeName(tensor.type) },
                                { "shape", tensor.shape },
                                { "data_offsets", { begin, data.size() } } };
    }
    std::string text = header.dump();
    // The reference writer aligns the data to 8 bytes with spaces; readers must not count on it.
    while (text.size() % 8 != (misaligned ? 1 : 0))
        text += ' ';
    std::string length;
    for (unsigned i = 0; i < 8; ++i)
        length += static_cast<char>(text.size() >> 8 * i & 0xFF);
    writeFile(path, length + text + data);
}

void writeTinyCheckpoint(const std::filesystem::path &directory, const TinyCheckpoint &options)
{
    writeFile(directory / "config.json", tinyConfigJson(options.shape, options.exl3));
    writeFile(directory / "tokenizer.json", tinyTokenizerJson());
    const ordered_json generation = { { "eos_token_id", options.shape.eosTokenIds },
                                      { "temperature", 1.0 },
                                      { "top_p", 0.95 } };
    writeFile(directory / "generation_config.json", generation.dump(2));

    ordered_json weightMap = ordered_json::object();
    std::size_t total = 0;
    const auto shards = split(tinyTensors(options), options.shards);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string name = shards.size() == 1
            ? "model.safetensors"
            : std::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        writeSafeTensors(directory / name, shards[i], options.misaligned);
        for (const TinyTensor &tensor : shards[i]) {
            weightMap[tensor.name] = name;
            total += tensor.bytes.size();
        }
    }
    if (options.index) {
        const ordered_json index
            = { { "metadata", { { "total_size", total } } }, { "weight_map", weightMap } };
        writeFile(directory / "model.safetensors.index.json", index.dump(2));
    }
}

} // namespace firesteel::test
