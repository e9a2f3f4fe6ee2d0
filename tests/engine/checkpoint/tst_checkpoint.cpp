// SPDX-License-Identifier: MIT
#include "engine/checkpoint/checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiny_checkpoint.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace firesteel::engine;
using firesteel::test::TemporaryFolder;

TEST_CASE("Glimmer opens with every tensor in place")
{
    const auto directory = firesteel::test::modelDirectory();
    if (!directory)
        return firesteel::test::reportSkip("FIRESTEEL_MODEL names no model folder");
    const auto checkpoint = Checkpoint::open(*directory);
    REQUIRE(checkpoint);
    CHECK(checkpoint->tensors().size() == 612);
    CHECK(checkpoint->totalBytes() == 70'250'440);
    CHECK(checkpoint->shape().layerCount == 8);
    const auto embedding
        = checkpoint->matrix("model.language_model.embed_tokens.weight", { 6144, 384 });
    REQUIRE(embedding);
    CHECK(embedding->dtype == firesteel::kernels::DType::BF16);
    CHECK(embedding->rows == 6144);
    CHECK(embedding->cols == 384);
    const auto convolution
        = checkpoint->matrix("model.language_model.layers.0.self_attn.q_conv1d.weight", { 384, 4 });
    REQUIRE(convolution); // stored as [384, 1, 4]
    CHECK(convolution->rows == 384);
    CHECK(convolution->cols == 4);

    const auto defaults = readGenerationDefaults(*directory);
    REQUIRE(defaults);
    CHECK(defaults->temperature == 1.0F);
    CHECK(defaults->topP == 0.95F);
    CHECK(defaults->topK == 0);
    CHECK(defaults->eosTokenIds == std::vector<std::int32_t> { 6084, 6091, 6093 });
}

TEST_CASE("a matrix is viewed in place where its alignment allows, copied once where not")
{
    using firesteel::kernels::DType;
    const std::pair<TensorType, DType> types[] = { { TensorType::BF16, DType::BF16 },
                                                   { TensorType::F16, DType::F16 },
                                                   { TensorType::F32, DType::F32 } };
    constexpr const char *kName = "model.language_model.layers.0.self_attn.q_conv1d.weight";
    for (const auto &[stored, dtype] : types) {
        for (const bool misaligned : { false, true }) {
            CAPTURE(misaligned);
            const firesteel::test::TinyCheckpoint options { .type = stored,
                                                            .misaligned = misaligned };
            const TemporaryFolder folder;
            firesteel::test::writeTinyCheckpoint(folder.path(), options);
            const auto checkpoint = Checkpoint::open(folder.path());
            REQUIRE(checkpoint);
            const TensorEntry &entry = *checkpoint->tensors().find(kName)->second.entry;
            CHECK(entry.shape == std::vector<std::int64_t> { 32, 1, 4 });
            const auto matrix = checkpoint->matrix(kName, { 32, 4 });
            REQUIRE(matrix);
            CHECK(matrix->dtype == dtype);
            CHECK(matrix->rows == 32);
            CHECK(matrix->cols == 4);
            CHECK((matrix->data == entry.bytes.data()) == !misaligned);
            CHECK(reinterpret_cast<std::uintptr_t>(matrix->data) % tensorTypeBytes(stored) == 0);
            CHECK(std::memcmp(matrix->data, entry.bytes.data(), entry.bytes.size()) == 0);
            CHECK(checkpoint->matrix(kName, { 32, 1, 4 })->rows == 32);
        }
    }
}

TEST_CASE("a vector is one row, another shape or a name nobody has is refused")
{
    const TemporaryFolder folder;
    firesteel::test::writeTinyCheckpoint(folder.path());
    const auto checkpoint = Checkpoint::open(folder.path());
    REQUIRE(checkpoint);
    const auto norm = checkpoint->matrix("model.language_model.norm.weight", { 64 });
    REQUIRE(norm);
    CHECK(norm->rows == 1);
    CHECK(norm->cols == 64);

    const auto shape = checkpoint->matrix("model.language_model.norm.weight", { 32, 2 });
    REQUIRE_FALSE(shape);
    CHECK(shape.error().code == ErrorCode::BadCheckpoint);
    CHECK(shape.error().message.contains(".safetensors: "));
    CHECK(shape.error().message.ends_with(
        "tensor \"model.language_model.norm.weight\" has shape [64], expected [32, 2]"));
    const auto missing = checkpoint->matrix("nobody", { 1 });
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message == folder.path().string() + ": tensor \"nobody\" is missing");
    CHECK_FALSE(checkpoint->contains("nobody"));
    CHECK(checkpoint->contains("lm_head.weight"));
}

TEST_CASE("a moved checkpoint keeps its views")
{
    const TemporaryFolder folder;
    firesteel::test::writeTinyCheckpoint(folder.path(), { .misaligned = true });
    auto opened = Checkpoint::open(folder.path());
    REQUIRE(opened);
    const auto before = opened->matrix("lm_head.weight", { 320, 64 });
    const std::string file = opened->tensors().find("lm_head.weight")->second.file->string();
    const Checkpoint moved = std::move(*opened);
    REQUIRE(before);
    const auto &tensor = moved.tensors().find("lm_head.weight")->second;
    CHECK(tensor.file->string() == file);
    CHECK(std::memcmp(before->data, tensor.entry->bytes.data(), tensor.entry->bytes.size()) == 0);
}

TEST_CASE("generation defaults: absent file, each field, each broken field")
{
    const TemporaryFolder folder;
    const auto absent = readGenerationDefaults(folder.path());
    REQUIRE(absent);
    CHECK(absent->temperature == 1.0F);
    CHECK(absent->topP == 1.0F);
    CHECK(absent->eosTokenIds.empty());

    firesteel::test::writeFile(folder / "generation_config.json",
                               R"({"temperature": 0.7, "top_p": 0.9, "top_k": 40, "min_p": 0.05,
                                   "repetition_penalty": 1.1, "eos_token_id": 7, "other": {}})");
    const auto all = readGenerationDefaults(folder.path());
    REQUIRE(all);
    CHECK(all->temperature == 0.7F);
    CHECK(all->topP == 0.9F);
    CHECK(all->topK == 40);
    CHECK(all->minP == 0.05F);
    CHECK(all->repetitionPenalty == 1.1F);
    CHECK(all->eosTokenIds == std::vector<std::int32_t> { 7 });

    const std::pair<std::string_view, std::string_view> broken[] = {
        { "[]", "not a JSON object" },
        { "{", "not JSON" },
        { R"({"temperature": "hot"})", "temperature is \"hot\"" },
        { R"({"temperature": -1})", "temperature is -1" },
        { R"({"top_p": 1.5})", "top_p is 1.5" },
        { R"({"top_k": -1})", "top_k is -1" },
        { R"({"min_p": 2})", "min_p is 2" },
        { R"({"repetition_penalty": 0})", "repetition_penalty is 0" },
        { R"({"eos_token_id": [-1]})", "eos_token_id is -1" },
    };
    for (const auto &[text, message] : broken) {
        CAPTURE(text);
        firesteel::test::writeFile(folder / "generation_config.json", text);
        const auto result = readGenerationDefaults(folder.path());
        REQUIRE_FALSE(result);
        CHECK(result.error().code == ErrorCode::BadCheckpoint);
        CHECK(result.error().message.contains("generation_config.json: "));
        CHECK(result.error().message.contains(message));
    }
}
