// SPDX-License-Identifier: MIT
//
// The bounds are of two kinds: what the kernels implement (multiples of 8, four streams, a
// convolution of 4) and what keeps every product of dimensions in range and every table small,
// whatever a hostile file says.
#include "engine/checkpoint/model_shape.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/config_reader.h"

#include <algorithm>
#include <format>
#include <limits>

namespace firesteel::engine {

namespace {

constexpr IntegerRange kWidth { .min = 8, .max = 65536, .multipleOf = 8 };
constexpr IntegerRange kHeadWidth { .min = 8, .max = 4096, .multipleOf = 8 };
constexpr IntegerRange kHeads { .min = 1, .max = 1024 };
constexpr IntegerRange kIds { .min = 0, .max = std::numeric_limits<int>::max() - 1 };

void readAttentionKinds(ConfigObject &text, ModelShape &shape)
{
    const auto names = text.strings("layer_types", static_cast<std::size_t>(shape.layerCount));
    for (const std::string_view name : names) {
        // transformers reads "full_attention" as an alias.
        const bool isMla = name == "deepseek_sparse_attention" || name == "full_attention";
        if (!isMla && name != "linear_attention")
            text.reportUnsupported(
                "layer_types", std::format("names the unknown kind \"{}\"", printable(name, 60)));
        shape.attention.push_back(isMla ? AttentionKind::Mla : AttentionKind::Kda);
    }
    if (!names.empty() && !std::ranges::contains(shape.attention, AttentionKind::Mla))
        text.reportUnsupported("layer_types", "has no deepseek_sparse_attention layer");
    if (!names.empty() && !std::ranges::contains(shape.attention, AttentionKind::Kda))
        text.reportUnsupported("layer_types", "has no linear_attention layer");
}

void readMlpKinds(ConfigObject &text, ModelShape &shape)
{
    for (const std::string_view name :
         text.strings("mlp_layer_types", static_cast<std::size_t>(shape.layerCount))) {
        if (name != "dense" && name != "sparse")
            text.reportUnsupported(
                "mlp_layer_types",
                std::format("names the unknown kind \"{}\"", printable(name, 60)));
        shape.mlp.push_back(name == "dense" ? MlpKind::Dense : MlpKind::Sparse);
    }
    if (!text.has("first_k_dense_replace"))
        return;
    const int dense = text.integer("first_k_dense_replace", { .min = 0, .max = shape.layerCount });
    for (std::size_t layer = 0; layer < shape.mlp.size(); ++layer) {
        if ((shape.mlp[layer] == MlpKind::Dense) != (layer < static_cast<std::size_t>(dense)))
            return text.reportUnsupported(
                "first_k_dense_replace",
                std::format("is {}, but mlp_layer_types says otherwise for layer {}", dense,
                            layer));
    }
}

// A list that repeats what layer_types says must agree with it.
void checkLayerList(ConfigObject &linear, std::string_view field, AttentionKind kind,
                    const ModelShape &shape)
{
    if (!linear.has(field))
        return;
    std::vector<std::int32_t> expected;
    for (std::size_t layer = 0; layer < shape.attention.size(); ++layer) {
        if (shape.attention[layer] == kind)
            expected.push_back(static_cast<std::int32_t>(layer));
    }
    auto layers = linear.integers(field, kIds, static_cast<std::size_t>(shape.layerCount));
    std::ranges::sort(layers);
    if (layers != expected)
        linear.reportUnsupported(field, "contradicts text_config.layer_types");
}

void readKda(ConfigObject &text, ModelShape &shape)
{
    auto linear = text.object("linear_attn_config");
    if (!linear)
        return;
    shape.kda.heads = linear->integer("num_heads", kHeads);
    shape.kda.headDim = linear->integer("head_dim", { .min = 8, .max = 256, .multipleOf = 8 });
    linear->expectInteger("short_conv_kernel_size", 4);
    shape.kda.convKernel = 4;
    // Without a bound the gate is another function; below -5 the chunk form's factors leave
    // float32.
    shape.kda.gateLowerBound = linear->real("gate_lower_bound", { .min = -5, .max = -1e-6 });
    checkLayerList(*linear, "kda_layers", AttentionKind::Kda, shape);
    checkLayerList(*linear, "full_attn_layers", AttentionKind::Mla, shape);
    linear->ignore({ "safe_gate" }); // only says what an absent gate_lower_bound means
}

void readMla(ConfigObject &text, ModelShape &shape)
{
    auto &mla = shape.mla;
    mla.heads = text.integer("num_attention_heads", kHeads);
    text.expectInteger("num_key_value_heads", mla.heads);
    mla.qLoraRank = text.integer("q_lora_rank", kWidth);
    mla.kvLoraRank = text.integer("kv_lora_rank", kWidth);
    mla.qkHeadDim = text.integer("qk_nope_head_dim", kHeadWidth);
    mla.vHeadDim = text.integer("v_head_dim", kHeadWidth);
    text.expectInteger("qk_rope_head_dim", 0);
    text.expectFlag("mla_use_nope", true);
    if (text.has("qk_head_dim"))
        text.expectInteger("qk_head_dim", mla.qkHeadDim);
    if (text.has("attention_bias"))
        text.expectFlag("attention_bias", false);
}

void readIndexer(ConfigObject &text, ModelShape &shape)
{
    auto &indexer = shape.indexer;
    indexer.heads = text.integer("index_n_heads", kHeads);
    indexer.headDim = text.integer("index_head_dim", kHeadWidth);
    indexer.pool = text.integer("index_kpool", { .min = 1, .max = 16 });
    indexer.topK = text.integer("index_topk", { .min = 1, .max = 1 << 20 });
    if (indexer.topK % indexer.pool != 0)
        text.reportUnsupported(
            "index_topk",
            std::format("is {}, not a multiple of index_kpool {}", indexer.topK, indexer.pool));
    text.expectFlag("index_kpool_compress", true);
    text.expectFlag("index_kpool_always_select_tail", true);
    // An explicit indexer_types wins over the schedules, in transformers as here.
    text.ignore({ "index_topk_freq", "index_topk_pattern", "index_skip_topk_offset" });

    const auto types = text.strings("indexer_types", static_cast<std::size_t>(shape.layerCount));
    bool hasSelection = false; // of an earlier full layer
    for (std::size_t layer = 0; layer < types.size(); ++layer) {
        const bool isFull = types[layer] == "full";
        if (!isFull && types[layer] != "shared")
            text.reportUnsupported(
                "indexer_types",
                std::format("names the unknown kind \"{}\"", printable(types[layer], 60)));
        indexer.full.push_back(isFull);
        if (layer >= shape.attention.size() || shape.attention[layer] != AttentionKind::Mla)
            continue;
        hasSelection = hasSelection || isFull;
        if (!hasSelection)
            text.reportUnsupported(
                "indexer_types",
                std::format("makes layer {} share a selection, but no layer before it has one",
                            layer));
    }
}

void readMoe(ConfigObject &text, ModelShape &shape)
{
    auto &moe = shape.moe;
    moe.experts = text.integer("n_routed_experts", { .min = 1, .max = 1024 });
    moe.expertsPerToken
        = text.integer("num_experts_per_tok", { .min = 1, .max = std::min(moe.experts, 64) });
    moe.sharedExperts = text.integer("n_shared_experts", { .min = 1, .max = 8 });
    moe.expertWidth = text.integer("moe_intermediate_size", kWidth);
    moe.denseWidth = text.integer("intermediate_size", kWidth);
    moe.routedScaling = text.real("routed_scaling_factor", { .min = 1e-6, .max = 1000 });
    moe.swigluLimit = text.real("swiglu_limit", { .min = 1e-3, .max = 1e6 });
    text.expectText("scoring_func", "sigmoid");
    text.expectText("topk_method", "noaux_tc");
    text.expectFlag("norm_topk_prob", true);
    text.expectText("moe_router_dtype", "float32");
    for (const std::string_view group : { "n_group", "topk_group" }) {
        if (text.has(group))
            text.expectInteger(group, 1);
    }
}

void readText(ConfigObject &text, ModelShape &shape)
{
    if (text.has("model_type"))
        text.expectText("model_type", "glm5_next_text");
    shape.hiddenSize = text.integer("hidden_size", kWidth);
    shape.layerCount = text.integer("num_hidden_layers", { .min = 1, .max = 256 });
    shape.vocabularySize
        = text.integer("vocab_size", { .min = 8, .max = 1 << 22, .multipleOf = 8 });
    shape.maxPositionEmbeddings
        = text.integer("max_position_embeddings", { .min = 1, .max = 1 << 30 });
    shape.rmsNormEps = text.real("rms_norm_eps", { .min = 1e-12, .max = 0.1 });
    shape.eosTokenIds
        = text.integers("eos_token_id", { .min = 0, .max = shape.vocabularySize - 1 }, 64);
    if (shape.eosTokenIds.empty() && text.has("eos_token_id"))
        text.reportUnsupported("eos_token_id", "names no token");
    text.expectText("hidden_act", "silu");
    if (text.has("tie_word_embeddings"))
        text.expectFlag("tie_word_embeddings", false);

    text.expectFlag("mhc", true);
    text.expectInteger("hc_mult", 4);
    shape.hyper.streams = 4;
    shape.hyper.sinkhornIterations = text.integer("hc_sinkhorn_iters", { .min = 1, .max = 1000 });
    shape.hyper.eps = text.real("hc_eps", { .min = 1e-12, .max = 0.1 });

    readAttentionKinds(text, shape);
    readMlpKinds(text, shape);
    readKda(text, shape);
    readMla(text, shape);
    readIndexer(text, shape);
    readMoe(text, shape);
    if (text.has("num_nextn_predict_layers"))
        shape.mtpLayerCount = text.integer("num_nextn_predict_layers", { .min = 0, .max = 8 });

    // Known and without effect on what is computed here.
    text.ignore({ "attention_dropout", "bos_token_id", "dtype", "head_dim",
                  "index_share_for_mtp_iteration", "indexer_rope_interleave", "initializer_range",
                  "output_router_logits", "pad_token_id", "router_aux_loss_coef", "torch_dtype",
                  "use_cache" });
}

void readVision(ConfigObject &vision, ModelShape &shape)
{
    auto &facts = shape.vision;
    if (vision.has("model_type"))
        vision.expectText("model_type", "glm5_next_vision");
    facts.depth = vision.integer("depth", { .min = 1, .max = 256 });
    facts.hiddenSize = vision.integer("hidden_size", kWidth);
    facts.heads = vision.integer("num_heads", kHeads);
    if (facts.hiddenSize % facts.heads != 0)
        vision.reportUnsupported(
            "num_heads",
            std::format("is {}, it does not divide hidden_size {}", facts.heads, facts.hiddenSize));
    facts.intermediateSize = vision.integer("intermediate_size", kWidth);
    facts.projectionSize = vision.integer("projection_intermediate_size", kWidth);
    facts.channels = vision.integer("in_channels", { .min = 1, .max = 16 });
    facts.patchSize = vision.integer("patch_size", { .min = 1, .max = 256 });
    facts.temporalPatchSize = vision.integer("temporal_patch_size", { .min = 1, .max = 16 });
    facts.mergeSize = vision.integer("spatial_merge_size", { .min = 1, .max = 16 });
    vision.expectInteger("out_hidden_size", shape.hiddenSize);
    vision.ignore({ "attention_bias", "attention_dropout", "dtype", "hidden_act", "image_size",
                    "initializer_range", "rms_norm_eps", "swiglu_limit", "torch_dtype" });
}

// EXL3's own rates and codebooks come with each tensor; the config's are averages.
void readQuantization(ConfigObject &config, ConfigReport &report)
{
    if (!config.has("quantization_config"))
        return;
    auto quantization = config.object("quantization_config");
    if (!quantization)
        return;
    const std::string_view method
        = quantization->text("quant_method").value_or("something unnamed");
    if (method == "exl3") {
        report.isExl3 = true;
        return;
    }
    config.reportUnsupported("quantization_config",
                             std::format("says that the weights are quantised as {}; this build "
                                         "reads EXL3 and plain BF16, F16 and F32",
                                         printable(method, 60)));
}

} // namespace

Result<ConfigReport> parseModelConfig(std::string_view json, std::string_view fileName)
{
    simdjson::dom::parser parser;
    const auto root = parseJsonObject(parser, json, fileName);
    if (!root)
        return std::unexpected(root.error());
    ConfigProblems problems(fileName);
    ConfigReport report;
    ModelShape &shape = report.shape;
    ConfigObject config(*root, "", problems);
    config.expectText("model_type", "glm5_next");
    readQuantization(config, report);
    if (config.has("tie_word_embeddings"))
        config.expectFlag("tie_word_embeddings", false);
    auto text = config.object("text_config");
    if (text) {
        readText(*text, shape);
        readQuantization(*text, report);
        text->appendUnknown(report.unknownFields);
    }
    shape.hasVision = config.has("vision_config");
    if (shape.hasVision) {
        if (auto vision = config.object("vision_config")) {
            readVision(*vision, shape);
            vision->appendUnknown(report.unknownFields);
        }
    }
    if (shape.hasVision || config.has("image_token_id"))
        shape.imageTokenId
            = config.integer("image_token_id", { .min = 0, .max = shape.vocabularySize - 1 });
    config.ignore({ "architectures", "dtype", "image_end_token_id", "image_start_token_id",
                    "torch_dtype", "transformers_version", "video_end_token_id",
                    "video_start_token_id", "video_token_id" });
    config.appendUnknown(report.unknownFields);
    if (const auto &problem = problems.first())
        return std::unexpected(*problem);
    return report;
}

Result<ConfigReport> readModelConfig(const std::filesystem::path &configJson)
{
    const auto file = openConfig(configJson);
    if (!file)
        return std::unexpected(file.error());
    return parseModelConfig(textOf(*file), configJson.string());
}

std::string_view knownModelName(const ModelShape &shape)
{
    if (shape.hiddenSize == 4096 && shape.layerCount == 45 && shape.moe.experts == 288)
        return "GLM-5.3-Flash";
    if (shape.hiddenSize == 384 && shape.layerCount == 8 && shape.moe.experts == 16)
        return "Glimmer";
    return {};
}

} // namespace firesteel::engine
