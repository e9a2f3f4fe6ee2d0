// SPDX-License-Identifier: MIT
#include "engine/checkpoint/checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"

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
