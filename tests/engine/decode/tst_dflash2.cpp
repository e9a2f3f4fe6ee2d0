// SPDX-License-Identifier: MIT
//
// Glimmer's drafter against a float32 trace of its reference: features, context, block, logits,
// candidates and drafts, and whole greedy runs.
#include "engine/decode/dflash2_drafter.h"
#include "tests/support/golden.h"
#include "tests/support/loaded_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

std::unique_ptr<engine::Dflash2Drafter> loadDrafter(LoadedModel &m,
                                                    const std::filesystem::path &folder)
{
    auto drafter = engine::Dflash2Drafter::load(folder, *m.model, m.stream, 1);
    if (!drafter)
        FAIL(drafter.error().message);
    m.model->setTapLayers((*drafter)->tapLayers());
    return std::move(*drafter);
}

// Contractions on the way to a value, for chainTolerance: elementwise functions count as 16.
struct Chain
{
    std::vector<double> lengths;
    Chain with(std::initializer_list<double> more) const
    {
        Chain longer = *this;
        longer.lengths.insert(longer.lengths.end(), more);
        return longer;
    }
    double bound() const { return chainTolerance(lengths); }
};

// A greedy run with drafts: what was drafted and accepted in each round.
struct Round
{
    std::vector<std::int32_t> drafts;
    int accepted = 0;
};
struct Run
{
    std::vector<std::int32_t> tokens;
    std::vector<Round> rounds;
};

Run greedyRun(LoadedModel &m, engine::Dflash2Drafter &drafter, std::span<const std::int32_t> prompt,
              std::size_t answer, int drafts)
{
    Run run { .tokens = { prompt.begin(), prompt.end() }, .rounds = {} };
    engine::SequenceState sequence
        = m.model->newSequence(static_cast<int>(prompt.size() + answer) + 9);
    const std::size_t tapWidth
        = drafter.tapLayers().size() * static_cast<std::size_t>(m.model->shape().hiddenSize);
    std::vector<float> taps(prompt.size() * tapWidth);
    std::vector<float> logits(m.vocabulary());
    m.model->prefill(sequence, prompt, logits, taps);
    drafter.restart(0);
    drafter.extend(0, 0, taps);
    run.tokens.push_back(argmax(logits));
    while (run.tokens.size() < prompt.size() + answer) {
        engine::DraftJob job { .slot = 0, .tokens = run.tokens, .count = drafts };
        drafter.draft({ &job, 1 });
        std::vector<std::int32_t> rows { run.tokens.back() };
        rows.insert(rows.end(), job.drafts.begin(), job.drafts.end());
        logits.resize(rows.size() * m.vocabulary());
        taps.resize(rows.size() * tapWidth);
        const engine::DecodeRows step { &sequence, rows };
        m.model->decode({ &step, 1 }, logits, taps);
        Round round { .drafts = job.drafts, .accepted = 0 };
        for (std::size_t row = 0;; ++row) {
            run.tokens.push_back(
                argmax(std::span(logits).subspan(row * m.vocabulary(), m.vocabulary())));
            if (row + 1 == rows.size() || rows[row + 1] != run.tokens.back())
                break;
            ++round.accepted;
        }
        const int position = sequence.position();
        const auto kept = static_cast<std::size_t>(round.accepted) + 1;
        sequence.commit(static_cast<int>(kept));
        drafter.extend(0, position, std::span(taps).first(kept * tapWidth));
        run.rounds.push_back(std::move(round));
    }
    return run;
}

} // namespace

TEST_CASE("golden drafter: features, context, block, logits, candidates and drafts")
{
    const auto goldens = goldenDirectory();
    if (trainedModel() == nullptr || !goldens)
        return;
    LoadedModel &m = *trainedModel();
    const auto golden = readGolden(*goldens / "drafter_block.safetensors");
    const auto drafter = loadDrafter(m, *drafterDirectory());
    engine::Dflash2Drafter::Trace trace;
    drafter->setTrace(&trace);

    drafter->extend(0, 0, golden.at("taps").values);
    const Chain features { { 1536, 384, 16 } };
    CHECK(rowError(trace.features, golden.at("features").values, 384) <= features.bound());
    for (int layer = 0; layer < 3; ++layer) {
        const auto view = drafter->context(0, layer);
        const std::string name = "layer_" + std::to_string(layer) + "_context_";
        const auto &k = golden.at(name + "k").values;
        const auto &v = golden.at(name + "v").values;
        CHECK(view.first == 0);
        CHECK(view.end == 57);
        CHECK(rowError(view.keys.first(k.size()), k, 128)
              <= features.with({ 384, 128, 16, 16 }).bound());
        CHECK(rowError(view.values.first(v.size()), v, 128) <= features.with({ 384 }).bound());
    }

    engine::DraftJob job { .slot = 0, .tokens = golden.at("tokens").ints, .count = 7 };
    drafter->draft({ &job, 1 });
    // Per layer: norm, convolution coefficients, convolution, projections, head norm, rotation,
    // scores, softmax, weighted sum over context and block, output, convolution; then the MLP.
    // What attention makes of the context's error adds once per layer.
    Chain chain;
    for (std::size_t layer = 0; layer < 3; ++layer) {
        chain = chain.with({ 1536, 384, 16, 384, 128, 16, 16 });
        chain = chain.with({ 384, 16, 384, 16, 384, 128, 16, 128, 16, 65, 512, 16 });
        chain = chain.with({ 384, 16, 384, 16, 384, 16, 768, 16 });
        const auto &expected = golden.at("layer_" + std::to_string(layer) + "_output").values;
        CHECK(rowError(trace.layers[layer], expected, 384) <= chain.bound());
    }
    chain = chain.with({ 384, 16 });
    CHECK(rowError(trace.z, golden.at("z").values, 384) <= chain.bound());
    chain = chain.with({ 384 });
    CHECK(rowError(trace.logits, golden.at("draft_logits").values, 6144) <= chain.bound());
    CHECK(trace.candidates == golden.at("candidates").ints);
    CHECK(rowError(trace.candidateLogits, golden.at("candidate_unary").values, 16)
          <= chain.bound());
    chain = chain.with({ 384, 256, 16 });
    CHECK(rowError(trace.scores, golden.at("walk_scores").values, 16) <= chain.bound());
    CHECK(job.drafts == golden.at("drafts").ints);
}

TEST_CASE("golden drafter: every draft and accepted count of greedy runs")
{
    const auto goldens = goldenDirectory();
    if (trainedModel() == nullptr || !goldens)
        return;
    LoadedModel &m = *trainedModel();
    const auto drafter = loadDrafter(m, *drafterDirectory());
    std::ifstream file(*goldens / "speculative_runs.json");
    const auto runs = nlohmann::json::parse(file);
    for (const auto &[name, expected] : runs.items()) {
        CAPTURE(name);
        const auto prompt
            = readGolden(*goldens / ("prompt_" + name + ".safetensors")).at("input_ids").ints;
        const auto generated = expected.at("generated").get<std::vector<std::int32_t>>();
        for (const int drafts : { 3, 5, 7 }) {
            CAPTURE(drafts);
            const auto &rounds = expected.at("K" + std::to_string(drafts)).at("rounds");
            const Run run = greedyRun(m, *drafter, prompt, generated.size(), drafts);
            CHECK(std::equal(generated.begin(), generated.end(),
                             run.tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size())));
            REQUIRE(run.rounds.size() >= rounds.size());
            for (std::size_t r = 0; r < rounds.size(); ++r) {
                CAPTURE(r);
                CHECK(run.rounds[r].drafts
                      == rounds[r].at("drafts").get<std::vector<std::int32_t>>());
                CHECK(run.rounds[r].accepted >= rounds[r].at("accepted").get<int>());
                // The reference counts nothing beyond the end of the text.
                if (r + 1 < rounds.size())
                    CHECK(run.rounds[r].accepted == rounds[r].at("accepted").get<int>());
            }
        }
    }
}

TEST_CASE("the embedded drafter agrees with the embedded model, also beyond its window")
{
    LoadedModel &m = embeddedModel();
    const auto drafter = loadDrafter(m, embeddedDrafterDirectory());
    // Greedy text is periodic in the end, so it is well drafted; it outgrows the window of 256.
    const std::vector<std::int32_t> prompt { 6086, 6088, 6091, 200, 300 };
    const Run run = greedyRun(m, *drafter, prompt, 300, 7);
    int accepted = 0;
    for (const Round &round : run.rounds)
        accepted += round.accepted;
    CHECK(accepted >= static_cast<int>(run.rounds.size())); // one a step where a stranger gets none
    const auto view = drafter->context(0, 0);
    CHECK(view.end - view.first == drafter->shape().window);
}

TEST_CASE("context rows do not depend on how they arrive, and a gap forgets what was before")
{
    LoadedModel &m = embeddedModel();
    const auto whole = loadDrafter(m, embeddedDrafterDirectory());
    const auto parts = loadDrafter(m, embeddedDrafterDirectory());
    const std::size_t tapWidth = whole->tapLayers().size() * 384;
    std::vector<float> taps(600 * tapWidth);
    for (std::size_t i = 0; i < taps.size(); ++i)
        taps[i] = static_cast<float>((i * 7919) % 1009) / 1009 - 0.5F;
    whole->extend(0, 0, taps);
    for (std::size_t begin = 0; begin < 600; begin += 50)
        parts->extend(0, static_cast<int>(begin),
                      std::span(taps).subspan(begin * tapWidth, 50 * tapWidth));
    for (int layer = 0; layer < whole->shape().layerCount; ++layer) {
        const auto a = whole->context(0, layer);
        const auto b = parts->context(0, layer);
        CHECK(a.first == 600 - whole->shape().window);
        CHECK(b.first == a.first);
        CHECK(std::ranges::equal(a.keys, b.keys));
        CHECK(std::ranges::equal(a.values, b.values));
    }
    parts->extend(0, 700, std::span(taps).first(10 * tapWidth));
    CHECK(parts->context(0, 0).first == 700);
    CHECK(parts->context(0, 0).end == 710);
    CHECK_THROWS_AS(parts->extend(0, 709, std::span(taps).first(tapWidth)), std::logic_error);
}

TEST_CASE("a drafter folder that is not one of this model is refused by name")
{
    LoadedModel &m = embeddedModel();
    const auto original
        = nlohmann::json::parse(std::ifstream(embeddedDrafterDirectory() / "config.json"));
    const auto refusal = [&](const nlohmann::json &config) {
        const auto shape
            = engine::parseDflash2Config(config.dump(), "config.json", m.model->shape());
        return shape ? std::string("accepted") : shape.error().message;
    };
    CHECK(refusal(original) == "accepted");
    const auto changed = [&](const char *pointer, const nlohmann::json &value) {
        nlohmann::json config = original;
        config[nlohmann::json::json_pointer(pointer)] = value;
        return refusal(config);
    };
    CHECK(changed("/architectures/0", "LlamaForCausalLM").contains("architectures"));
    CHECK(changed("/hidden_size", 512).contains("hidden_size"));
    CHECK(changed("/vocab_size", 154880).contains("vocab_size"));
    CHECK(changed("/num_target_layers", 45).contains("num_target_layers"));
    CHECK(changed("/is_causal", true).contains("is_causal"));
    CHECK(changed("/layer_types/1", "full_attention").contains("layer_types"));
    CHECK(changed("/num_key_value_heads", 3).contains("num_key_value_heads"));
    CHECK(changed("/rope_parameters/rope_type", "yarn").contains("rope_parameters.rope_type"));
    CHECK(changed("/dflash_config/block_size", 16).contains("dflash_config.block_size"));
    CHECK(changed("/dflash_config/conv_kernel_size", 3).contains("conv_kernel_size"));
    CHECK(changed("/dflash_config/conv_group_size", 7).contains("conv_group_size"));
    CHECK(changed("/dflash_config/target_layer_ids", { 3, 1 }).contains("target_layer_ids"));
    CHECK(changed("/dflash_config/target_layer_ids", { 1, 8 }).contains("target_layer_ids"));
    CHECK(changed("/dflash_config/mask_token_id", 6144).contains("mask_token_id"));
    CHECK(changed("/rope_parameters", nullptr).contains("rope_parameters is missing"));
    CHECK(engine::parseDflash2Config("{", "config.json", m.model->shape()).error().code
          == engine::ErrorCode::BadCheckpoint);

    const TemporaryFolder folder;
    std::filesystem::copy(embeddedDrafterDirectory() / "config.json", folder / "config.json");
    const auto empty = engine::Dflash2Drafter::load(folder.path(), *m.model, m.stream, 1);
    REQUIRE_FALSE(empty);
    CHECK(empty.error().message.contains("has no .safetensors file"));
    // The target's own weights beside the drafter's config.
    std::filesystem::create_symlink(embeddedModelDirectory() / "model.safetensors",
                                    folder / "model.safetensors");
    const auto wrong = engine::Dflash2Drafter::load(folder.path(), *m.model, m.stream, 1);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.contains("\"fc.weight\" is missing"));
}
