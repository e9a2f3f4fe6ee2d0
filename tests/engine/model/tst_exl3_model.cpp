// SPDX-License-Identifier: MIT
//
// A random EXL3 model computed in three ways: decoded when loaded, kept as EXL3, and from a plain
// checkpoint of the decoded values.
#include "engine/model/weight_reader.h"
#include "tests/support/golden.h"
#include "tests/support/loaded_model.h"
#include "tests/support/model_bound.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

constexpr std::size_t kPrompt = 150;
constexpr std::uint64_t kKeep = 0; // no memory for decoded weights

std::vector<std::int32_t> randomTokens(const engine::ModelShape &shape, std::size_t count)
{
    RandomValues random(11);
    std::vector<std::int32_t> tokens(count);
    for (std::int32_t &token : tokens)
        token = random.integer(0, shape.vocabularySize - 1);
    return tokens;
}

void writePlain(const std::filesystem::path &folder, const TinyCheckpoint &options)
{
    writeFile(folder / "config.json", tinyConfigJson(options.shape));
    writeSafeTensors(folder / "model.safetensors", decodedTensors(tinyTensors(options)));
}

// Logits of the last prompt rows and of one decode step.
std::vector<float> logitsOf(LoadedModel &m, const std::vector<std::int32_t> &tokens)
{
    engine::SequenceState sequence = m.model->newSequence(512);
    std::vector<float> logits = m.prefill(sequence, std::span(tokens).first(kPrompt), 20);
    const std::vector<float> step = m.decode(sequence, std::span(tokens).subspan(kPrompt, 9));
    logits.insert(logits.end(), step.begin(), step.end());
    return logits;
}

// No discrete choice, which a small difference could turn: every expert, every visible token.
engine::ModelShape choicelessShape()
{
    engine::ModelShape shape = tinyExl3Shape();
    shape.moe.expertsPerToken = shape.moe.experts;
    shape.indexer.topK = 512;
    return shape;
}

// Error that keeping EXL3 adds to the streams, relative to their root mean square: each matrix
// rounds its rotated input to F16, independent errors of variance u^2 / 3, and each stage of a
// sublayer passes on those before it.
double keptTolerance(const engine::ModelShape &shape)
{
    double matrices = 0;
    for (std::size_t layer = 0; layer < shape.attention.size(); ++layer) {
        // qkv and output; or query in two steps, latent, output
        matrices += shape.attention[layer] == engine::AttentionKind::Kda ? 2 : 4;
        matrices += 3; // gate, up, down
    }
    constexpr double kHalfRoundoff = 0x1p-11;
    return 8 * kHalfRoundoff * std::sqrt(matrices / 3);
}

} // namespace

TEST_CASE("an EXL3 model decoded at load computes what a plain one of the decoded values computes")
{
    const TinyCheckpoint options { .shape = tinyExl3Shape(), .exl3 = true };
    const TemporaryFolder exl3;
    const TemporaryFolder plain;
    writeTinyCheckpoint(exl3.path(), options);
    writePlain(plain.path(), options);
    LoadedModel decoded(exl3.path());
    LoadedModel reference(plain.path());
    const auto tokens = randomTokens(options.shape, kPrompt + 9);
    CHECK(logitsOf(decoded, tokens) == logitsOf(reference, tokens));
    CHECK(decoded.model->parameterCount() == reference.model->parameterCount());
}

TEST_CASE("an EXL3 model kept compressed agrees within the rounding of its inputs to F16")
{
    for (const auto layout : { engine::TensorLayout::Exl3Pack, engine::TensorLayout::Released }) {
        const TinyCheckpoint options { .shape = choicelessShape(),
                                       .exl3 = true,
                                       .exl3Layout = layout };
        const TemporaryFolder exl3;
        const TemporaryFolder plain;
        writeTinyCheckpoint(exl3.path(), options);
        writePlain(plain.path(), options);
        LoadedModel kept(exl3.path(), 2, kKeep);
        LoadedModel reference(plain.path());
        const auto tokens = randomTokens(options.shape, kPrompt + 9);
        const auto actual = logitsOf(kept, tokens);
        const auto expected = logitsOf(reference, tokens);
        CHECK(actual != expected); // it is another path
        // logitTolerance is streamTolerance times the head's gain; the head adds a rounding of its
        // own.
        const double ours = streamTolerance(options.shape, options.shape.layerCount);
        const double gain = logitTolerance(reference.checkpoint) / ours;
        const double head = 8 * 0x1p-11 / std::sqrt(3);
        const double bound = gain * std::hypot(ours, keptTolerance(options.shape), head);
        const Difference difference = compare(actual, expected);
        MESSAGE("largest logit difference ", difference.largest, ", bound ", bound);
        CHECK(difference.largest <= bound);
    }
}

TEST_CASE("a kept EXL3 model gives a row the same bits in company, in chunks and on more threads")
{
    const TinyCheckpoint options { .shape = tinyExl3Shape(), .exl3 = true };
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path(), options);
    LoadedModel m(folder.path(), 1, kKeep);
    LoadedModel threaded(folder.path(), 3, kKeep);
    const auto tokens = randomTokens(options.shape, kPrompt + 9);
    const auto whole = logitsOf(m, tokens);
    CHECK(logitsOf(threaded, tokens) == whole);

    engine::SequenceState chunked = m.model->newSequence(512);
    m.prefill(chunked, std::span(tokens).first(64));
    const auto tail = m.prefill(chunked, std::span(tokens).subspan(64, kPrompt - 64), 20);
    CHECK(std::equal(tail.begin(), tail.end(), whole.begin()));

    for (std::size_t i = 0; i < 9; ++i) {
        const auto row = m.decode(chunked, std::span(tokens).subspan(kPrompt + i, 1));
        chunked.commit(1);
        CHECK(std::equal(row.begin(), row.end(),
                         whole.begin() + static_cast<std::ptrdiff_t>((20 + i) * m.vocabulary())));
    }
}

TEST_CASE("q, k and v apart give the bits of the fused matrix")
{
    // The released layout, with the same values: rows of the fused tensors.
    const engine::ModelShape shape = tinyExl3Shape();
    const TinyCheckpoint options { .shape = shape, .exl3 = true };
    std::vector<TinyTensor> tensors = decodedTensors(tinyTensors(options));
    const std::int64_t channels = std::int64_t { shape.kda.heads } * shape.kda.headDim;
    std::vector<TinyTensor> split;
    for (const TinyTensor &tensor : tensors) {
        const bool isMatrix = tensor.name.ends_with("qkv_proj.weight");
        if (!isMatrix && !tensor.name.ends_with("self_attn.conv1d.weight")) {
            split.push_back(tensor);
            continue;
        }
        const std::string prefix = tensor.name.substr(0, tensor.name.find("self_attn.") + 10);
        for (std::size_t i = 0; i < 3; ++i) {
            TinyTensor part = tensor;
            part.name = prefix + "qkv"[i] + (isMatrix ? "_proj.weight" : "_conv1d.weight");
            part.shape[0] = channels;
            part.bytes = tensor.bytes.substr(i * tensor.bytes.size() / 3, tensor.bytes.size() / 3);
            split.push_back(part);
        }
    }
    REQUIRE(split.size() == tensors.size() + 3 * 2 * 2); // three KDA layers
    const TemporaryFolder fusedFolder;
    const TemporaryFolder splitFolder;
    writePlain(fusedFolder.path(), options);
    writeFile(splitFolder / "config.json", tinyConfigJson(shape));
    writeSafeTensors(splitFolder / "model.safetensors", split);
    LoadedModel fused(fusedFolder.path());
    LoadedModel apart(splitFolder.path());
    const auto tokens = randomTokens(shape, kPrompt + 9);
    CHECK(logitsOf(fused, tokens) == logitsOf(apart, tokens));
}

TEST_CASE("EXL3 is decoded where the budget holds all of it, kept where not")
{
    const TinyCheckpoint options { .shape = tinyExl3Shape(), .exl3 = true };
    const TemporaryFolder folder;
    writeTinyCheckpoint(folder.path(), options);
    std::uint64_t weights = 0;
    for (const TinyTensor &tensor : tinyTensors(options))
        if (tensor.name.ends_with(".trellis"))
            weights += static_cast<std::uint64_t>(tensor.shape[0] * tensor.shape[1]) * 256;
    LoadedModel decoded(folder.path(), 1, weights * sizeof(float));
    LoadedModel kept(folder.path(), 1, weights * sizeof(float) - 1);
    CHECK(engine::decodedExl3Bytes(decoded.checkpoint) == weights * sizeof(float));
    const auto tokens = randomTokens(options.shape, kPrompt + 9);
    CHECK(logitsOf(decoded, tokens) != logitsOf(kept, tokens)); // which round differently
    CHECK(decoded.model->parameterCount() == kept.model->parameterCount());
}

TEST_CASE("experts of different rates are used decoded, and refused where memory is short")
{
    TinyCheckpoint options { .shape = tinyExl3Shape(), .exl3 = true };
    std::vector<TinyTensor> tensors = tinyTensors(options);
    const std::string name = "model.language_model.layers.2.mlp.experts.5.up_proj.trellis";
    TinyTensor &trellis = *std::ranges::find(tensors, name, &TinyTensor::name);
    trellis.shape[2] = 48;
    trellis.bytes += trellis.bytes.substr(0, trellis.bytes.size() / 2);
    const TemporaryFolder folder;
    writeFile(folder / "config.json", tinyConfigJson(options.shape, true));
    writeSafeTensors(folder / "model.safetensors", tensors);
    CHECK_NOTHROW(LoadedModel(folder.path()));
    CHECK_THROWS_WITH(LoadedModel(folder.path(), 1, kKeep),
                      "model.language_model.layers.2.mlp.experts differ in rate or codebook, or "
                      "some are plain: they can only be used decoded, for which memory is short");
}
