// SPDX-License-Identifier: MIT
#include "engine/checkpoint/config_writer.h"
#include "engine/checkpoint/exl3_pack.h"
#include "engine/text/tokenizer.h"
#include "engine/tools/inspect.h"
#include "engine/tools/model_report.h"
#include "engine/tools/synth.h"
#include "engine/tools/synth_shapes.h"
#include "engine/tools/synth_tokenizer.h"
#include "tests/support/loaded_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace firesteel;
using namespace firesteel::engine;
using namespace firesteel::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

ModelShape publishedShape(const char *file)
{
    json config = json::parse(readFile(dataPath("model_config") / file));
    config.erase("quantization_config");
    const auto report = parseModelConfig(config.dump(), file);
    REQUIRE(report);
    return report->shape;
}

SynthSummary writePack(const SynthOptions &options)
{
    const auto summary = writeSyntheticPack(options, {});
    REQUIRE_MESSAGE(summary, summary.error().message);
    return *summary;
}

// Replaces a text of a file's header by one of at most that length; the file is too long to read.
void edit(const fs::path &file, const std::string &before, std::string after)
{
    after.resize(before.size(), ' ');
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    std::string header(4U << 20U, '\0');
    stream.read(header.data(), static_cast<std::streamsize>(header.size()));
    REQUIRE(stream);
    const std::size_t at = header.find(before);
    REQUIRE(at != std::string::npos);
    stream.seekp(static_cast<std::streamoff>(at));
    stream << after;
    stream.close();
    REQUIRE(stream);
}

} // namespace

TEST_CASE("the shapes known by name are those of the published configs")
{
    CHECK(glmFlashShape() == publishedShape("released.json"));
    CHECK(glimmerShape() == publishedShape("glimmer.json"));
    CHECK(knownModelName(*namedShape("glm-5.3-flash")) == "GLM-5.3-Flash");
    CHECK(knownModelName(*namedShape("glimmer")) == "Glimmer");
    CHECK_FALSE(namedShape("GLM"));
    const ModelShape few = firstLayers(glmFlashShape(), 5);
    CHECK(few.layerCount == 5);
    CHECK(few.attention.size() == 5);
    CHECK(few.mtpLayerCount == 0);
}

TEST_CASE("a written config is read as the same shape, without unknown fields")
{
    for (const ModelShape &shape :
         { glmFlashShape(), glimmerShape(), firstLayers(glmFlashShape(), kLeastLayers) })
        for (const bool exl3 : { false, true }) {
            const std::string text = modelConfigJson(
                shape,
                exl3 ? std::optional(PackFacts { .bits = 2.05, .headBits = 5 }) : std::nullopt);
            const auto report = parseModelConfig(text, "config.json");
            REQUIRE_MESSAGE(report, report.error().message);
            CHECK(report->shape == shape);
            CHECK(report->isExl3 == exl3);
            CHECK(report->unknownFields.empty());
        }
}

TEST_CASE("a headers-only pack of GLM-5.3-Flash has the published 85,128,732,888 bytes")
{
    const TemporaryFolder folder;
    const SynthSummary summary = writePack(
        { .shape = glmFlashShape(), .out = folder.path() / "pack", .headersOnly = true });
    CHECK(summary.bytes == 85'128'732'888); // 79.2823 GiB
    CHECK(summary.tensors == 151'554);
    CHECK(summary.files == 12);

    const auto checkpoint = Checkpoint::open(folder.path() / "pack");
    REQUIRE_MESSAGE(checkpoint, checkpoint.error().message);
    CHECK(checkpoint->totalBytes() == summary.bytes);
    CHECK(checkpoint->unknownConfigFields().empty());
    const ModelReport report = reportOn(*checkpoint, {});
    CHECK(report.unexpected.empty());
    CHECK(report.packDifferences.empty());
    for (const Error &problem : report.problems)
        FAIL_CHECK(problem.message);
    std::uint64_t modules = 0;
    for (const auto &rates : report.rates)
        for (const auto &[rate, part] : rates)
            modules += part.modules;
    CHECK(modules == 37'592);
    const auto inspection = inspectModel({ .model = folder.path() / "pack" });
    REQUIRE(inspection);
    CHECK(inspection->isUsable);
    CHECK(inspection->text.contains("85,128,732,888"));
}

TEST_CASE("inspect says how a pack differs from the published one")
{
    const TemporaryFolder folder;
    const fs::path pack = folder.path() / "pack";
    writePack({ .shape = firstLayers(glmFlashShape(), 4), .out = pack, .headersOnly = true });
    const fs::path shard = pack / "model-00001-of-00001.safetensors";
    fs::remove(pack / "model.safetensors.index.json");
    const std::string layer = "model.language_model.layers.3.mlp.experts.7.";
    edit(shard, layer + "gate_proj.trellis\":{\"dtype\":\"I16\",\"shape\":[256,128,32]",
         layer + "gate_proj.trellis\":{\"dtype\":\"I16\",\"shape\":[256,64,64]");
    edit(shard, layer + "down_proj.suh", layer + "down_proj.sux");
    const auto checkpoint = Checkpoint::open(pack);
    REQUIRE_MESSAGE(checkpoint, checkpoint.error().message);
    const ModelReport report = reportOn(*checkpoint, {});
    CHECK(report.packDifferences
          == std::vector<std::string> {
              layer + "down_proj.suh: missing; the pack has F16 2048",
              layer + "down_proj.sux: F16 2048; the pack has no such tensor",
              layer
                  + "gate_proj.trellis: I16 256 x 64 x 64 (4 bits); the pack has I16 256 x 128 x "
                    "32 (2 bits)",
          });
}

TEST_CASE("a synthetic Glimmer is the same for any number of threads, loads and computes")
{
    const TemporaryFolder folder;
    writePack({ .shape = glimmerShape(), .out = folder.path() / "a", .threads = 1 });
    writePack({ .shape = glimmerShape(), .out = folder.path() / "b", .threads = 3 });
    writePack({ .shape = glimmerShape(), .out = folder.path() / "c", .seed = 2 });
    const std::string name = "model-00001-of-00001.safetensors";
    CHECK(readFile(folder.path() / "a" / name) == readFile(folder.path() / "b" / name));
    CHECK(readFile(folder.path() / "a" / name) != readFile(folder.path() / "c" / name));

    const auto inspection = inspectModel({ .model = folder.path() / "a" });
    REQUIRE(inspection);
    CHECK(inspection->isUsable);
    CHECK(inspection->text.contains("routed experts           2                336"));

    for (const std::uint64_t decodeBudget : { UINT64_MAX, std::uint64_t { 0 } }) {
        LoadedModel m(folder.path() / "a", 2, decodeBudget);
        SequenceState sequence = m.model->newSequence(256);
        std::vector<std::int32_t> tokens(100);
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<std::int32_t>(i * 53 % 6084);
        const std::vector<float> logits = m.prefill(sequence, tokens);
        double squares = 0;
        for (const float logit : logits)
            squares += static_cast<double>(logit) * static_cast<double>(logit);
        const double spread = std::sqrt(squares / static_cast<double>(logits.size()));
        // The head's rows have norm 3 and its input, normalised, entries of about 1.
        CHECK(spread > 1);
        CHECK(spread < 10);
    }
}

TEST_CASE("a synthetic tokenizer has the model's full size and gives back every text")
{
    const std::string json = tokenizerJson(byteMerges(154'820));
    const TemporaryFolder folder;
    writeFile(folder / "tokenizer.json", json);
    const auto tokenizer = Tokenizer::load(folder / "tokenizer.json");
    REQUIRE_MESSAGE(tokenizer, tokenizer.error().message);
    CHECK(tokenizer->size() == 154'820 + kAddedTokenCount);
    CHECK(tokenizer->addedTokenId("<|endoftext|>") == 154'820);
    CHECK(tokenizer->addedTokenId("<|user|>") == 154'827);
    CHECK(tokenizer->addedTokenId("<|image|>") == 154'854);
    const std::string text = "The quick\tbrown fox: näive 日本 \x01<think>";
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(byteMerges(256).empty());
    CHECK(byteMerges(256 + 65'536 + 1).back().first.size() > byteMerges(257).back().first.size());
}

TEST_CASE("nothing is left of a synthetic pack that was cancelled, and nothing else is touched")
{
    const TemporaryFolder folder;
    int calls = 0;
    const auto cancelled
        = writeSyntheticPack({ .shape = glimmerShape(), .out = folder.path() / "new" },
                             [&](std::uint64_t, std::uint64_t) { return ++calls < 2; });
    REQUIRE_FALSE(cancelled);
    CHECK(errorCodeName(cancelled.error().code) == errorCodeName(ErrorCode::Cancelled));
    CHECK(calls == 2);
    CHECK_FALSE(fs::exists(folder.path() / "new"));

    fs::create_directory(folder.path() / "empty");
    const auto emptied
        = writeSyntheticPack({ .shape = glimmerShape(), .out = folder.path() / "empty" },
                             [](std::uint64_t, std::uint64_t) { return false; });
    CHECK_FALSE(emptied);
    CHECK(fs::exists(folder.path() / "empty"));
    CHECK(fs::is_empty(folder.path() / "empty"));

    writeFile(folder.path() / "empty" / "mine", "x");
    const auto refused = writeSyntheticPack(
        { .shape = glimmerShape(), .out = folder.path() / "empty", .headersOnly = true }, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message
          == (folder.path() / "empty").string() + ": is there already and not an empty folder");
    CHECK(readFile(folder.path() / "empty" / "mine") == "x");

    const auto file = writeSyntheticPack(
        { .shape = glimmerShape(), .out = folder.path() / "empty" / "mine", .headersOnly = true },
        {});
    CHECK_FALSE(file);
}
