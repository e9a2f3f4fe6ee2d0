// SPDX-License-Identifier: MIT
//
// Glimmer's layers against traces of float32 transformers: residual streams, KDA and its states,
// mHC, MoE, latent attention and the indexer's selection.
#include "engine/model/hyper_connection.h"
#include "engine/model/kda_layer.h"
#include "engine/model/mla_layer.h"
#include "engine/model/mlp_layer.h"
#include "engine/model/step_tables.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/hyper/hyper_backends.h"
#include "kernels/linear/linear.h"
#include "kernels/mla/mla_backends.h"
#include "tests/support/golden.h"
#include "tests/support/loaded_model.h"
#include "tests/support/model_bound.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;
using engine::rowsOf;

namespace {

using Golden = std::map<std::string, GoldenTensor>;

std::optional<Golden> trace(const std::string &name)
{
    const auto goldens = goldenDirectory();
    if (trainedModel() == nullptr || !goldens)
        return std::nullopt;
    return readGolden(*goldens / (name + ".safetensors"));
}

double rms(std::span<const float> values)
{
    double squares = 0;
    for (const float value : values)
        squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares / static_cast<double>(values.size()));
}

double chain(std::initializer_list<double> lengths)
{
    return chainTolerance({ lengths.begin(), lengths.size() });
}

std::string layerPrefix(int layer)
{
    return "model.language_model.layers." + std::to_string(layer) + ".";
}

// Attention before the output projection. A relative error in a score s changes its weight by |s|
// times as much, and the weighted values may cancel: the bound is relative to the largest score and
// the largest value of the head.
void checkAttention(engine::Workspace &w, LoadedModel &m, std::span<const float> latents,
                    std::span<const float> expectedOutput, const kernels::Matrix &kvB)
{
    constexpr std::size_t kHeads = 3;
    const std::size_t rows = latents.size() / 512;
    const kernels::MlaShape shape {
        .heads = kHeads, .latentDim = 512, .keyDim = 256, .valueDim = 256
    };
    std::vector<float> repeated; // every latent once per head: expanding it gives the values
    for (std::size_t t = 0; t < rows; ++t)
        for (std::size_t h = 0; h < kHeads; ++h)
            repeated.insert(repeated.end(), latents.begin() + static_cast<std::ptrdiff_t>(t * 512),
                            latents.begin() + static_cast<std::ptrdiff_t>(t * 512 + 512));
    std::vector<float> values(rows * kHeads * 256);
    kernels::launchMlaExpandValue(values, repeated, kvB, shape, static_cast<std::int64_t>(rows),
                                  kernels::RowClass::Prefill, m.stream);
    const std::span<const float> absorbed = w.mla.absorbed;
    const std::span<const float> value = w.mla.value;
    int wrong = 0;
    for (std::size_t h = 0; h < kHeads; ++h) {
        double largestValue = 0;
        for (std::size_t t = 0; t < rows; ++t) {
            largestValue = std::max(largestValue,
                                    rms(std::span(values).subspan((t * kHeads + h) * 256, 256)));
            double largestScore = 0;
            for (std::size_t n = 0; n <= t; ++n) {
                double products = 0;
                for (std::size_t c = 0; c < 512; ++c)
                    products += std::abs(static_cast<double>(absorbed[(t * kHeads + h) * 512 + c])
                                         * static_cast<double>(latents[n * 512 + c]));
                largestScore = std::max(largestScore, products / 16);
            }
            const auto head
                = [&](std::span<const float> x) { return x.subspan((t * kHeads + h) * 256, 256); };
            const double score = chain({ 384, 16, 256, 256, 512 }) * largestScore;
            wrong += compare(head(value), head(expectedOutput)).largest
                    <= (2 * score + chain({ 384, 16, 131, 512 })) * largestValue
                ? 0
                : 1;
        }
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("golden trace: embeddings, residual streams after every layer, mean and last logits")
{
    const auto golden = trace("trace_streams");
    if (!golden)
        return;
    LoadedModel &m = *trainedModel();
    const std::vector<std::int32_t> &ids = golden->at("input_ids").ints;
    engine::SequenceState sequence = m.model->newSequence(64);
    std::vector<float> lastStreams;
    int layers = 0;
    const std::vector<float> logits
        = m.prefill(sequence, ids, 1, [&](int layer, std::span<const float> streams) {
              const GoldenTensor &expected
                  = golden->at("streams_after_layer_" + std::to_string(layer));
              const double error = rowError(streams, expected.values, 384);
              MESSAGE("layer " << layer << ": " << error);
              CHECK(error <= streamTolerance(m.model->shape(), layer + 1));
              lastStreams.assign(streams.begin(), streams.end());
              ++layers;
          });
    CHECK(layers == 8);
    std::vector<float> mean(ids.size() * 384);
    kernels::launchHyperMean(mean, lastStreams, engine::hyperShape(m.model->shape()),
                             static_cast<std::int64_t>(ids.size()), m.stream);
    CHECK(rowError(mean, golden->at("final_norm_input").values, 384)
          <= streamTolerance(m.model->shape(), 8));
    CHECK(compare(logits, golden->at("logits_last").values).largest
          <= logitTolerance(m.checkpoint));

    std::vector<float> embedded(ids.size() * 384);
    engine::WeightStore store(m.stream);
    engine::WeightReader weights(m.checkpoint, store);
    kernels::launchEmbed(embedded, ids,
                         weights.matrix("model.language_model.embed_tokens.weight", { 6144, 384 }),
                         1, m.stream);
    CHECK(embedded == golden->at("embeddings").values);
}

TEST_CASE("golden trace: KDA recurrent and convolution state after a prompt")
{
    const auto golden = trace("state_after_prompt");
    const auto streams = trace("trace_streams"); // the same prompt, for its ids
    if (!golden || !streams)
        return;
    LoadedModel &m = *trainedModel();
    engine::SequenceState sequence = m.model->newSequence(64);
    m.prefill(sequence, streams->at("input_ids").ints);
    int index = 0;
    for (int layer = 0; layer < 8; ++layer) {
        if (layer % 4 == 3)
            continue;
        const engine::KdaState &state = sequence.kda(index++);
        const std::string name = "layer" + std::to_string(layer);
        // A state is a sum over the prompt of outer products of rows that carry the layers' error.
        const double tolerance
            = streamTolerance(m.model->shape(), layer + 1) + chain({ 20, 128, 128 });
        CHECK(rowError(state.state, golden->at(name + "_recurrent_state").values, 128 * 128)
              <= tolerance * 128); // against the matrix's mean: rows of strong keys are larger
        // transformers keeps [channel, 4 rows]; the window is [3 rows, channel].
        const std::vector<float> &conv = golden->at(name + "_conv_state").values;
        std::vector<float> window(3 * 1152);
        for (std::size_t c = 0; c < 1152; ++c)
            for (std::size_t j = 0; j < 3; ++j)
                window[j * 1152 + c] = conv[c * 4 + j + 1];
        CHECK(rowError(state.window, window, 1152) <= tolerance);
    }
}

TEST_CASE("golden trace: KDA layer internals")
{
    const auto golden = trace("trace_kda");
    if (!golden)
        return;
    LoadedModel &m = *trainedModel();
    engine::WeightStore store(m.stream);
    engine::WeightReader weights(m.checkpoint, store);
    const engine::KdaLayer layer(weights, layerPrefix(1) + "self_attn.", 1);
    constexpr std::int64_t kRows = 20;
    const auto rows = static_cast<std::size_t>(kRows);
    for (const engine::RowClass rowClass :
         { engine::RowClass::Prefill, engine::RowClass::Decode }) {
        engine::Workspace w(m.model->shape(), kRows, m.stream);
        engine::StepTables tables(6, 2, kRows, m.stream);
        engine::SequenceState sequence = m.model->newSequence(64);
        std::vector<float> output, z, u, g, beta, gate, o;
        // Prefill takes all rows at once, decode as many as a step may have.
        const std::size_t most = rowClass == engine::RowClass::Prefill ? rows : 9;
        for (std::size_t begin = 0; begin < rows; begin += most) {
            const std::size_t count = std::min(most, rows - begin);
            const auto part = static_cast<std::int64_t>(count);
            const engine::RowGroup group { &sequence, 0, part, sequence.position() };
            const std::vector<std::int32_t> tokens(count, 0);
            tables.describe({ &group, 1 }, tokens, kRows);
            std::vector<float> y(count * 384, NAN);
            layer.forward(y, std::span(golden->at("input").values).subspan(begin * 384), tables,
                          rowClass, w, m.stream);
            sequence.setPending(tokens);
            sequence.commit(static_cast<int>(count));
            output.insert(output.end(), y.begin(), y.end());
            const auto append = [&](std::vector<float> &to, const kernels::Buffer<float> &from,
                                    std::int64_t width) {
                const std::span<float> values = rowsOf(from, width, part);
                to.insert(to.end(), values.begin(), values.end());
            };
            append(z, w.kda.z, 1152);
            append(u, w.kda.u, 1152);
            append(g, w.kda.g, 384);
            append(beta, w.kda.beta, 3);
            append(gate, w.kda.gate, 384);
            append(o, w.kda.o, 384);
        }

        CHECK(rowError(z, golden->at("qkv_pre_conv").values, 1152) <= chain({ 384 }));
        std::vector<float> query, key, value;
        for (std::size_t t = 0; t < rows; ++t) {
            const auto row = u.begin() + static_cast<std::ptrdiff_t>(t * 1152);
            query.insert(query.end(), row, row + 384);
            key.insert(key.end(), row + 384, row + 768);
            value.insert(value.end(), row + 768, row + 1152);
        }
        std::vector<float> expectedValue;
        for (std::size_t t = 0; t < rows; ++t) {
            const auto row = golden->at("qkv_post_conv").values.begin()
                + static_cast<std::ptrdiff_t>(t * 1152);
            expectedValue.insert(expectedValue.end(), row + 768, row + 1152);
        }
        const double convolved = chain({ 384, 16, 16 });
        CHECK(rowError(value, expectedValue, 384) <= convolved);
        CHECK(rowError(query, golden->at("q_normalized_scaled").values, 128)
              <= convolved + chain({ 128 }));
        CHECK(rowError(key, golden->at("k_normalized").values, 128) <= convolved + chain({ 128 }));
        CHECK(rowError(g, golden->at("g").values, 128) <= chain({ 384, 128, 16, 16 }));
        CHECK(rowError(beta, golden->at("beta").values, 3) <= chain({ 384, 16 }));
        CHECK(rowError(gate, golden->at("gate").values, 128) <= chain({ 384, 128 }));
        const double mixed = chain({ 384, 16, 128, 16, 20, 128, 128, 128 });
        CHECK(rowError(o, golden->at("normed_gated").values, 384) <= mixed);
        CHECK(rowError(output, golden->at("output").values, 384) <= mixed + chain({ 384 }));
    }

    // The core alone, from the golden's own q, k, g and beta.
    std::vector<float> u(rows * 1152);
    for (std::size_t t = 0; t < rows; ++t)
        for (std::size_t c = 0; c < 384; ++c) {
            u[t * 1152 + c] = golden->at("q_normalized_scaled").values[t * 384 + c];
            u[t * 1152 + 384 + c] = golden->at("k_normalized").values[t * 384 + c];
            u[t * 1152 + 768 + c] = golden->at("qkv_post_conv").values[t * 1152 + 768 + c];
        }
    const kernels::KdaShape shape { .heads = 3, .headDim = 128, .gateLowerBound = -5 };
    std::vector<float> state(3 * 128 * 128, 0.0F);
    std::vector<float> o(rows * 384);
    const std::vector<kernels::KdaSlot> slots { { .state = state.data() } };
    const std::vector<kernels::StepSequence> sequences { { .rows = kRows } };
    const std::vector<std::int32_t> sequenceOf(rows, 0);
    const kernels::Step step {
        .sequences = sequences, .sequenceOf = sequenceOf, .rows = kRows, .mostRows = kRows
    };
    kernels::launchKdaPrefill(o, u, golden->at("g").values, golden->at("beta").values, slots, step,
                              shape, {}, m.stream);
    // Errors of the state are relative to what was added to it, (|v| + |S^T k|) at every row
    // before, and reach the output through |q| = 128^-0.5; the output itself may be much smaller.
    for (std::size_t h = 0; h < 3; ++h) {
        double added = 0;
        for (std::size_t t = 0; t < rows; ++t) {
            added += 2 * rms(std::span(u).subspan(t * 1152 + 768 + h * 128, 128));
            const auto head
                = [&](std::span<const float> x) { return x.subspan((t * 3 + h) * 128, 128); };
            CHECK(compare(head(o), head(golden->at("core_output").values)).largest
                  <= chain({ 16, 20, 128, 128, 128 }) * added / std::sqrt(128.0));
        }
    }
}

TEST_CASE("golden trace: mHC sites")
{
    const auto golden = trace("trace_mhc");
    if (!golden)
        return;
    LoadedModel &m = *trainedModel();
    engine::WeightStore store(m.stream);
    engine::WeightReader weights(m.checkpoint, store);
    constexpr std::int64_t kRows = 20;
    for (const auto &[name, site] : { std::pair { "layer0_attn_hc_", layerPrefix(0) + "hc_attn" },
                                      { "layer4_ffn_hc_", layerPrefix(4) + "hc_ffn" } }) {
        const kernels::Matrix fn = weights.matrix(site + "_fn", { 24, 4 * 384 });
        const kernels::Buffer<float> base = weights.values(site + "_base", { 24 });
        const kernels::Buffer<float> scale = weights.values(site + "_scale", { 3 });
        std::vector<float> post(kRows * 4), combination(kRows * 16), collapsed(kRows * 384);
        const std::string prefix = name;
        kernels::reference::hyperMix({ post, combination }, collapsed,
                                     golden->at(prefix + "input").values, { fn, base, scale, {} },
                                     engine::hyperShape(m.model->shape()), kRows, m.stream.pool());
        // 40 normalisations of four values each follow the exponentials.
        const double coefficients = chain({ 1536, 16, 16, 40 * 4 });
        CHECK(rowError(post, golden->at(prefix + "post").values, 4) <= coefficients);
        CHECK(rowError(combination, golden->at(prefix + "comb").values, 16) <= coefficients);
        CHECK(rowError(collapsed, golden->at(prefix + "collapsed").values, 384) <= coefficients);
    }
}

TEST_CASE("golden trace: router choices, routed and shared experts")
{
    const auto golden = trace("trace_moe");
    if (!golden)
        return;
    LoadedModel &m = *trainedModel();
    engine::WeightStore store(m.stream);
    engine::WeightReader weights(m.checkpoint, store);
    const engine::MoeLayer layer(weights, layerPrefix(2) + "mlp.");
    constexpr std::int64_t kRows = 20;
    engine::Workspace w(m.model->shape(), kRows, m.stream);
    w.reservePlainExperts(m.model->shape());
    std::vector<float> output(kRows * 384);
    layer.forward(output, golden->at("input").values, engine::RowClass::Prefill, kRows, w,
                  m.stream);
    CHECK(rowError(rowsOf(w.mlp.logits, 16, kRows), golden->at("router_logits").values, 16)
          <= chain({ 384 }));
    CHECK(w.mlp.experts.toHost(m.stream) == golden->at("chosen_experts").ints);
    CHECK(rowError(rowsOf(w.mlp.weights, 4, kRows), golden->at("weights").values, 4)
          <= chain({ 384, 16, 4 }));
    const double expert = chain({ 384, 384, 16, 128 });
    const std::span<const float> shared = rowsOf(w.mlp.shared, 384, kRows);
    CHECK(rowError(shared, golden->at("shared_output").values, 384) <= expert);
    CHECK(rowError(output, golden->at("routed_output").values, 384)
          <= expert + chain({ 384, 16, 4, 4 }));
    for (std::size_t i = 0; i < output.size(); ++i)
        output[i] += shared[i]; // which is what the mHC site does
    CHECK(rowError(output, golden->at("output").values, 384) <= expert + chain({ 384, 16, 4, 4 }));
}

TEST_CASE("golden trace: latent attention, index scores and selected positions")
{
    const auto golden = trace("trace_dsa");
    if (!golden)
        return;
    LoadedModel &m = *trainedModel();
    engine::WeightStore store(m.stream);
    engine::WeightReader weights(m.checkpoint, store);
    constexpr std::int64_t kRows = 189;
    constexpr std::int64_t kPools = 47;
    const kernels::IndexShape index = engine::Indexer::kernelShape(m.model->shape());
    for (const int number : { 3, 7 }) {
        const std::string name = "layer" + std::to_string(number) + "_";
        const auto expected
            = [&](const char *tensor) { return std::span(golden->at(name + tensor).values); };
        const engine::MlaLayer layer(weights, layerPrefix(number) + "self_attn.", number / 4, true);
        engine::Workspace w(m.model->shape(), kRows, m.stream);
        engine::SequenceState sequence = m.model->newSequence(256);
        const engine::RowGroup group { &sequence, 0, kRows, 0 };
        engine::StepTables tables(6, 2, kRows, m.stream);
        tables.describe({ &group, 1 }, std::vector<std::int32_t>(kRows, 0), kRows);
        w.reserveContext(m.model->shape(), kRows);
        std::vector<float> output(static_cast<std::size_t>(kRows) * 384);
        layer.forward(output, expected("input"), tables, engine::RowClass::Prefill, w, m.stream);

        CHECK(rowError(w.mla.qLatent, expected("q_resid"), 256) <= chain({ 384, 16 }));
        CHECK(rowError(w.mla.latent, expected("kv_latent"), 512) <= chain({ 384, 16 }));
        CHECK(rowError(w.index.query, expected("index_q"), 128) <= chain({ 384, 16, 256 }));
        CHECK(rowError(w.index.key, expected("index_k"), 128) <= chain({ 384, 16 }));
        CHECK(rowError(w.index.gate, expected("index_gate"), 128) <= chain({ 384 }));
        std::vector<float> indexWeights = w.index.weights.toHost(m.stream);
        for (float &weight : indexWeights)
            weight *= 0.5F; // 4 heads^-0.5, a part of the selection here
        CHECK(rowError(indexWeights, expected("index_weights"), 4) <= chain({ 384 }));
        const kernels::Buffer<std::byte> &keys = sequence.mla(number / 4).pooledKeys();
        const std::span<const float> pooled { reinterpret_cast<const float *>(keys.data()),
                                              keys.size() / sizeof(float) };
        CHECK(rowError(pooled.first(kPools * 128), expected("pool_keys"), 128)
              <= chain({ 384, 16, 16, 4 }));

        std::vector<float> scores(kRows * kPools);
        kernels::reference::indexScores(scores, w.index.query, w.index.weights, pooled, index, 0,
                                        kRows, kPools, m.stream.pool());
        const double scoreTolerance = chain({ 384, 256, 384, 16, 4, 128, 4 });
        int masked = 0;
        int wrongScores = 0;
        for (std::size_t t = 0; t < static_cast<std::size_t>(kRows); ++t) {
            const std::size_t complete = (t + 1) / 4;
            CHECK(std::ranges::all_of(
                std::span(scores).subspan(t * kPools + complete, kPools - complete),
                [&](float s) { return std::isinf(s); }));
            masked += std::isinf(expected("pool_scores")[t * kPools + kPools - 1]) ? 1 : 0;
            for (std::size_t p = 0; p < complete; ++p) {
                // The heads' terms may cancel: the error is relative to the sum of their
                // magnitudes.
                double magnitude = 0;
                for (std::size_t h = 0; h < 4; ++h) {
                    double products = 0;
                    for (std::size_t c = 0; c < 128; ++c)
                        products += std::abs(
                            static_cast<double>(expected("index_q")[(t * 4 + h) * 128 + c])
                            * static_cast<double>(expected("pool_keys")[p * 128 + c]));
                    magnitude += std::abs(static_cast<double>(expected("index_weights")[t * 4 + h]))
                        * products / std::sqrt(128.0);
                }
                const double error
                    = std::abs(static_cast<double>(scores[t * kPools + p])
                               - static_cast<double>(expected("pool_scores")[t * kPools + p]));
                wrongScores += error <= scoreTolerance * magnitude ? 0 : 1;
            }
        }
        CHECK(wrongScores == 0);
        CHECK(masked == 187); // the last pool is visible to the last two rows only

        const std::vector<std::int32_t> &positions
            = golden->at(name + "selected_positions_sorted").ints;
        int differing = 0;
        for (std::size_t t = 0; t < static_cast<std::size_t>(kRows); ++t) {
            const auto count = static_cast<std::size_t>(w.index.counts.span()[t]);
            const bool equal
                = std::equal(positions.begin() + static_cast<std::ptrdiff_t>(t * 131),
                             positions.begin() + static_cast<std::ptrdiff_t>(t * 131 + count),
                             w.index.positions.data() + t * 131);
            const bool padded = count == 131 || positions[t * 131 + count] == -1;
            differing += equal && padded ? 0 : 1;
        }
        CHECK(differing == 0);
        checkAttention(
            w, m, expected("kv_latent"), expected("attention_output"),
            weights.matrix(layerPrefix(number) + "self_attn.kv_b_proj.weight", { 3 * 512, 512 }));
        std::vector<float> projected(output.size());
        kernels::launchLinear(
            projected, expected("attention_output"),
            weights.matrix(layerPrefix(number) + "self_attn.o_proj.weight", { 384, 768 }), kRows,
            engine::RowClass::Prefill, m.stream);
        CHECK(rowError(projected, expected("output"), 384) <= chain({ 768 }));
    }
}
