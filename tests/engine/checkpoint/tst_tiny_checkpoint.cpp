// SPDX-License-Identifier: MIT
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/text/tokenizer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_values.h"
#include "tests/support/tiny_checkpoint.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <set>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

std::uint16_t half(float value, TensorType type)
{
    std::string bytes;
    appendElement(bytes, type, value);
    std::uint16_t bits = 0;
    REQUIRE(bytes.size() == sizeof(bits));
    std::memcpy(&bits, bytes.data(), sizeof(bits));
    return bits;
}

} // namespace

TEST_CASE("a tiny checkpoint opens complete in every layout")
{
    ModelShape everything = tinyShape();
    everything.hasVision = true;
    everything.mtpLayerCount = 1;
    everything.indexer.full[4] = false;
    const TinyCheckpoint layouts[] = {
        {},
        { .type = TensorType::F16, .squeezeConvolutions = true, .shards = 1, .index = false },
        { .type = TensorType::F32, .misaligned = true, .shards = 3 },
        { .shards = 3, .index = false },
        { .shape = everything },
    };
    for (const TinyCheckpoint &layout : layouts) {
        CAPTURE(layout.shards);
        const TemporaryFolder folder;
        writeTinyCheckpoint(folder.path(), layout);
        const auto checkpoint = Checkpoint::open(folder.path());
        REQUIRE_MESSAGE(checkpoint, checkpoint.error().message);
        CHECK(checkpoint->unknownConfigFields().empty());
        CHECK(checkpoint->tensors().size() == expectedTensors(layout.shape).size());
        CHECK(tensorProblems(*checkpoint).empty());
        CHECK(readGenerationDefaults(folder.path())->eosTokenIds == layout.shape.eosTokenIds);

        const auto tokenizer = Tokenizer::load(folder / "tokenizer.json");
        REQUIRE_MESSAGE(tokenizer, tokenizer.error().message);
        CHECK(tokenizer->addedTokenId("<|endoftext|>") == kTinyFirstAddedToken);
        CHECK(tokenizer->addedTokenId("<|video|>") == kTinyFirstAddedToken + 35);
        CHECK(tokenizer->size() == kTinyFirstAddedToken + 36);
        CHECK_FALSE(tokenizer->isMapped(kTinyFirstAddedToken + 36));
        const std::string text = "the thing is\tnäive 日本 \x01<think>";
        CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    }
}

TEST_CASE("a tiny checkpoint's config says what its shape says")
{
    const auto report = parseModelConfig(tinyConfigJson(tinyShape()), "config.json");
    REQUIRE(report);
    const ModelShape expected = tinyShape();
    CHECK(report->shape.attention == expected.attention);
    CHECK(report->shape.mlp == expected.mlp);
    CHECK(report->shape.rmsNormEps == expected.rmsNormEps);
    CHECK(report->shape.hyper.eps == expected.hyper.eps);
    CHECK(report->shape.moe.denseWidth == expected.moe.denseWidth);
    CHECK(report->shape.eosTokenIds == expected.eosTokenIds);
    CHECK_FALSE(report->shape.hasVision);
}

TEST_CASE("tiny weights are fixed by the seed and have the intended spread")
{
    const auto tensors = tinyTensors();
    const auto again = tinyTensors();
    const auto other = tinyTensors({ .seed = 2 });
    REQUIRE(tensors.size() == again.size());
    std::set<std::string> contents;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        CHECK(tensors[i].bytes == again[i].bytes);
        CHECK(tensors[i].bytes != other[i].bytes);
        CHECK(contents.insert(tensors[i].bytes).second); // no two tensors are equal
    }

    RandomValues random(5);
    double sum = 0;
    double squares = 0;
    constexpr int kCount = 100'000;
    for (int i = 0; i < kCount; ++i) {
        const double value = normal(random);
        sum += value;
        squares += value * value;
    }
    // Standard errors: 1/sqrt(n) of the mean; sqrt((kurtosis - 1)/n) of the variance with kurtosis
    // 3 - 1.2/4. Six of each.
    CHECK(std::fabs(sum / kCount) < 6 / std::sqrt(kCount));
    CHECK(std::fabs(squares / kCount - 1) < 6 * std::sqrt(1.7 / kCount));
}

TEST_CASE("elements are rounded to nearest even")
{
    CHECK(half(1.0F, TensorType::BF16) == 0x3F80);
    CHECK(half(-2.5F, TensorType::BF16) == 0xC020);
    CHECK(half(1.0F + 1.0F / 256, TensorType::BF16) == 0x3F80); // halfway: to even
    CHECK(half(1.0F + 3.0F / 256, TensorType::BF16) == 0x3F82);
    CHECK(half(0.0F, TensorType::F16) == 0x0000);
    CHECK(half(1.0F, TensorType::F16) == 0x3C00);
    CHECK(half(-2.5F, TensorType::F16) == 0xC100);
    CHECK(half(1.0F + 1.0F / 2048, TensorType::F16) == 0x3C00);
    CHECK(half(1.0F + 3.0F / 2048, TensorType::F16) == 0x3C02);
    CHECK(half(2.0F - 1.0F / 2048, TensorType::F16) == 0x4000); // carries into the exponent
    CHECK(half(std::ldexp(1.0F, -24), TensorType::F16) == 0x0001); // smallest subnormal
    CHECK(half(std::ldexp(1.0F, -14), TensorType::F16) == 0x0400);
    CHECK(half(65504.0F, TensorType::F16) == 0x7BFF);
}
