// SPDX-License-Identifier: MIT
#include "engine/checkpoint/config_writer.h"

#include <format>
#include <nlohmann/json.hpp>
#include <string>

namespace firesteel::engine {

using nlohmann::ordered_json;

namespace {

// The number that a person would write for this float: 1e-05, not 9.999999747378752e-06.
double shortest(float value) { return std::stod(std::format("{}", value)); }

ordered_json visionConfig(const ModelShape &shape)
{
    const auto &vision = shape.vision;
    return { { "attention_bias", true },
             { "depth", vision.depth },
             { "hidden_act", "silu" },
             { "hidden_size", vision.hiddenSize },
             { "image_size", 448 }, // unused, but some readers want it
             { "in_channels", vision.channels },
             { "intermediate_size", vision.intermediateSize },
             { "model_type", "glm5_next_vision" },
             { "num_heads", vision.heads },
             { "out_hidden_size", shape.hiddenSize },
             { "patch_size", vision.patchSize },
             { "projection_intermediate_size", vision.projectionSize },
             { "rms_norm_eps", 1e-5 },
             { "spatial_merge_size", vision.mergeSize },
             { "swiglu_limit", 10.0 },
             { "temporal_patch_size", vision.temporalPatchSize } };
}

ordered_json textConfig(const ModelShape &shape)
{
    ordered_json attention = ordered_json::array();
    ordered_json mlp = ordered_json::array();
    ordered_json indexers = ordered_json::array();
    ordered_json kdaLayers = ordered_json::array();
    ordered_json mlaLayers = ordered_json::array();
    for (std::size_t i = 0; i < shape.attention.size(); ++i) {
        const bool isKda = shape.attention[i] == AttentionKind::Kda;
        attention.push_back(isKda ? "linear_attention" : "deepseek_sparse_attention");
        (isKda ? kdaLayers : mlaLayers).push_back(i);
        mlp.push_back(shape.mlp[i] == MlpKind::Dense ? "dense" : "sparse");
        indexers.push_back(shape.indexer.full[i] ? "full" : "shared");
    }
    ordered_json linear = { { "full_attn_layers", mlaLayers },
                            { "gate_lower_bound", shortest(shape.kda.gateLowerBound) },
                            { "head_dim", shape.kda.headDim },
                            { "kda_layers", kdaLayers },
                            { "num_heads", shape.kda.heads },
                            { "short_conv_kernel_size", shape.kda.convKernel } };
    return { { "attention_bias", false },
             { "dtype", "bfloat16" },
             { "eos_token_id", shape.eosTokenIds },
             { "hc_eps", shortest(shape.hyper.eps) },
             { "hc_mult", shape.hyper.streams },
             { "hc_sinkhorn_iters", shape.hyper.sinkhornIterations },
             { "hidden_act", "silu" },
             { "hidden_size", shape.hiddenSize },
             { "index_head_dim", shape.indexer.headDim },
             { "index_kpool", shape.indexer.pool },
             { "index_kpool_always_select_tail", true },
             { "index_kpool_compress", true },
             { "index_n_heads", shape.indexer.heads },
             { "index_topk", shape.indexer.topK },
             { "indexer_types", indexers },
             { "intermediate_size", shape.moe.denseWidth },
             { "kv_lora_rank", shape.mla.kvLoraRank },
             { "layer_types", attention },
             { "linear_attn_config", linear },
             { "max_position_embeddings", shape.maxPositionEmbeddings },
             { "mhc", true },
             { "mla_use_nope", true },
             { "mlp_layer_types", mlp },
             { "model_type", "glm5_next_text" },
             { "moe_intermediate_size", shape.moe.expertWidth },
             { "moe_router_dtype", "float32" },
             { "n_group", 1 },
             { "n_routed_experts", shape.moe.experts },
             { "n_shared_experts", shape.moe.sharedExperts },
             { "norm_topk_prob", true },
             { "num_attention_heads", shape.mla.heads },
             { "num_experts_per_tok", shape.moe.expertsPerToken },
             { "num_hidden_layers", shape.layerCount },
             { "num_key_value_heads", shape.mla.heads },
             { "num_nextn_predict_layers", shape.mtpLayerCount },
             { "q_lora_rank", shape.mla.qLoraRank },
             { "qk_nope_head_dim", shape.mla.qkHeadDim },
             { "qk_rope_head_dim", 0 },
             { "rms_norm_eps", shortest(shape.rmsNormEps) },
             { "routed_scaling_factor", shortest(shape.moe.routedScaling) },
             { "scoring_func", "sigmoid" },
             { "swiglu_limit", shortest(shape.moe.swigluLimit) },
             { "tie_word_embeddings", false },
             { "topk_group", 1 },
             { "topk_method", "noaux_tc" },
             { "v_head_dim", shape.mla.vHeadDim },
             { "vocab_size", shape.vocabularySize } };
}

} // namespace

std::string modelConfigJson(const ModelShape &shape, const std::optional<PackFacts> &pack)
{
    ordered_json config = { { "architectures", { "Glm5NextForConditionalGeneration" } },
                            { "model_type", "glm5_next" },
                            { "tie_word_embeddings", false },
                            { "text_config", textConfig(shape) } };
    if (shape.imageTokenId >= 0)
        config["image_token_id"] = shape.imageTokenId;
    if (shape.hasVision)
        config["vision_config"] = visionConfig(shape);
    if (pack)
        config["quantization_config"] = { { "quant_method", "exl3" },
                                          { "bits", pack->bits },
                                          { "head_bits", pack->headBits },
                                          { "codebook", pack->codebook } };
    return config.dump(2);
}

} // namespace firesteel::engine
