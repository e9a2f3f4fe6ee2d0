// SPDX-License-Identifier: MIT
#include "engine/checkpoint/model_shape.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace firesteel::engine;
using nlohmann::json;

namespace {

json loadConfig(std::string_view name)
{
    const auto path = firesteel::test::dataPath("model_config") / name;
    json config = json::parse(firesteel::test::readFile(path));
    config.erase("quantization_config");
    return config;
}

Result<ConfigReport> parse(const json &config)
{
    return parseModelConfig(config.dump(), "config.json");
}

void checkRefused(const std::string &text, ErrorCode code, std::string_view message)
{
    const auto report = parseModelConfig(text, "config.json");
    REQUIRE_FALSE(report);
    CAPTURE(report.error().message);
    CHECK(report.error().code == code);
    CHECK(report.error().message.starts_with("config.json: "));
    CHECK(report.error().message.contains(message));
    CHECK_FALSE(report.error().message.contains('\n'));
}

} // namespace

TEST_CASE("the released config gives the released model's facts")
{
    const auto report = parse(loadConfig("released.json"));
    REQUIRE(report);
    CHECK(report->unknownFields.empty());
    const ModelShape &shape = report->shape;
    CHECK(knownModelName(shape) == "GLM-5.3-Flash");
    CHECK(shape.hiddenSize == 4096);
    CHECK(shape.layerCount == 45);
    CHECK(shape.vocabularySize == 154880);
    CHECK(shape.maxPositionEmbeddings == 1048576);
    CHECK(shape.rmsNormEps == 1e-5F);
    CHECK(shape.eosTokenIds == std::vector<std::int32_t> { 154820, 154827, 154829 });
    REQUIRE(shape.attention.size() == 45);
    REQUIRE(shape.mlp.size() == 45);
    REQUIRE(shape.indexer.full.size() == 45);
    for (std::size_t layer = 0; layer < 45; ++layer) {
        CHECK(shape.attention[layer] == (layer % 4 == 3 ? AttentionKind::Mla : AttentionKind::Kda));
        CHECK(shape.mlp[layer] == (layer < 3 ? MlpKind::Dense : MlpKind::Sparse));
        CHECK(shape.indexer.full[layer]);
    }
    CHECK(shape.hyper.streams == 4);
    CHECK(shape.hyper.sinkhornIterations == 20);
    CHECK(shape.hyper.eps == 1e-6F);
    CHECK(shape.kda.heads == 64);
    CHECK(shape.kda.headDim == 128);
    CHECK(shape.kda.convKernel == 4);
    CHECK(shape.kda.gateLowerBound == -5.0F);
    CHECK(shape.mla.heads == 64);
    CHECK(shape.mla.qLoraRank == 1536);
    CHECK(shape.mla.kvLoraRank == 512);
    CHECK(shape.mla.qkHeadDim == 256);
    CHECK(shape.mla.vHeadDim == 256);
    CHECK(shape.indexer.heads == 32);
    CHECK(shape.indexer.headDim == 128);
    CHECK(shape.indexer.topK == 2048);
    CHECK(shape.indexer.pool == 4);
    CHECK(shape.moe.experts == 288);
    CHECK(shape.moe.expertsPerToken == 8);
    CHECK(shape.moe.sharedExperts == 1);
    CHECK(shape.moe.expertWidth == 2048);
    CHECK(shape.moe.denseWidth == 12288);
    CHECK(shape.moe.routedScaling == 2.5F);
    CHECK(shape.moe.swigluLimit == 10.0F);
    CHECK(shape.mtpLayerCount == 1);
    CHECK(shape.hasVision);
    CHECK(shape.imageTokenId == 154854);
    CHECK(shape.vision.depth == 24);
    CHECK(shape.vision.hiddenSize == 1024);
    CHECK(shape.vision.heads == 16);
    CHECK(shape.vision.intermediateSize == 4096);
    CHECK(shape.vision.projectionSize == 10240);
    CHECK(shape.vision.patchSize == 14);
}

TEST_CASE("Glimmer's config gives Glimmer's facts")
{
    const auto report = parse(loadConfig("glimmer.json"));
    REQUIRE(report);
    CHECK(report->unknownFields.empty());
    const ModelShape &shape = report->shape;
    CHECK(knownModelName(shape) == "Glimmer");
    CHECK(shape.hiddenSize == 384);
    CHECK(shape.layerCount == 8);
    CHECK(shape.vocabularySize == 6144);
    CHECK(shape.eosTokenIds == std::vector<std::int32_t> { 6084, 6091, 6093 });
    CHECK(shape.attention[3] == AttentionKind::Mla);
    CHECK(shape.attention[7] == AttentionKind::Mla);
    CHECK(std::ranges::count(shape.attention, AttentionKind::Mla) == 2);
    CHECK(shape.mlp[0] == MlpKind::Dense);
    CHECK(std::ranges::count(shape.mlp, MlpKind::Dense) == 1);
    CHECK(shape.kda.heads == 3);
    CHECK(shape.mla.heads == 3);
    CHECK(shape.mla.qLoraRank == 256);
    CHECK(shape.indexer.heads == 4);
    CHECK(shape.indexer.topK == 128);
    CHECK(shape.moe.experts == 16);
    CHECK(shape.moe.expertsPerToken == 4);
    CHECK(shape.moe.expertWidth == 128);
    CHECK(shape.moe.denseWidth == 768);
    CHECK(shape.mtpLayerCount == 0);
    CHECK(shape.hasVision);
    CHECK(shape.vision.depth == 3);
    CHECK(shape.imageTokenId == 6118);
}

TEST_CASE("each field the kernels depend on is required, by name")
{
    const json config = loadConfig("glimmer.json");
    const char *const required[] = { "/model_type",
                                     "/text_config",
                                     "/image_token_id",
                                     "/text_config/hidden_size",
                                     "/text_config/num_hidden_layers",
                                     "/text_config/vocab_size",
                                     "/text_config/max_position_embeddings",
                                     "/text_config/rms_norm_eps",
                                     "/text_config/eos_token_id",
                                     "/text_config/hidden_act",
                                     "/text_config/mhc",
                                     "/text_config/hc_mult",
                                     "/text_config/hc_sinkhorn_iters",
                                     "/text_config/hc_eps",
                                     "/text_config/layer_types",
                                     "/text_config/mlp_layer_types",
                                     "/text_config/linear_attn_config",
                                     "/text_config/linear_attn_config/num_heads",
                                     "/text_config/linear_attn_config/head_dim",
                                     "/text_config/linear_attn_config/short_conv_kernel_size",
                                     "/text_config/linear_attn_config/gate_lower_bound",
                                     "/text_config/num_attention_heads",
                                     "/text_config/num_key_value_heads",
                                     "/text_config/q_lora_rank",
                                     "/text_config/kv_lora_rank",
                                     "/text_config/qk_nope_head_dim",
                                     "/text_config/v_head_dim",
                                     "/text_config/qk_rope_head_dim",
                                     "/text_config/mla_use_nope",
                                     "/text_config/index_n_heads",
                                     "/text_config/index_head_dim",
                                     "/text_config/index_kpool",
                                     "/text_config/index_topk",
                                     "/text_config/index_kpool_compress",
                                     "/text_config/index_kpool_always_select_tail",
                                     "/text_config/indexer_types",
                                     "/text_config/n_routed_experts",
                                     "/text_config/num_experts_per_tok",
                                     "/text_config/n_shared_experts",
                                     "/text_config/moe_intermediate_size",
                                     "/text_config/intermediate_size",
                                     "/text_config/routed_scaling_factor",
                                     "/text_config/swiglu_limit",
                                     "/text_config/scoring_func",
                                     "/text_config/topk_method",
                                     "/text_config/norm_topk_prob",
                                     "/text_config/moe_router_dtype",
                                     "/vision_config/depth",
                                     "/vision_config/hidden_size",
                                     "/vision_config/num_heads",
                                     "/vision_config/intermediate_size",
                                     "/vision_config/projection_intermediate_size",
                                     "/vision_config/in_channels",
                                     "/vision_config/patch_size",
                                     "/vision_config/temporal_patch_size",
                                     "/vision_config/spatial_merge_size",
                                     "/vision_config/out_hidden_size" };
    for (const std::string field : required) {
        CAPTURE(field);
        std::string dotted = field.substr(1);
        std::ranges::replace(dotted, '/', '.');
        const json::json_pointer pointer(field);
        json absent = config;
        absent.at(pointer.parent_pointer()).erase(pointer.back());
        checkRefused(absent.dump(), ErrorCode::UnsupportedModel, dotted + " is missing");
        json null = config;
        null.at(pointer) = nullptr;
        checkRefused(null.dump(), ErrorCode::UnsupportedModel, dotted + " is missing");
    }
}

TEST_CASE("fields with a class default that changes nothing may be absent")
{
    json config = loadConfig("glimmer.json");
    for (const char *field :
         { "n_group", "topk_group", "attention_bias", "tie_word_embeddings",
           "first_k_dense_replace", "qk_head_dim", "num_nextn_predict_layers", "model_type" })
        REQUIRE(config["text_config"].erase(field) == 1);
    config.erase("tie_word_embeddings");
    config["text_config"]["linear_attn_config"].erase("kda_layers");
    config["text_config"]["linear_attn_config"].erase("full_attn_layers");
    CHECK(parse(config));

    config.erase("vision_config");
    config.erase("image_token_id");
    const auto textOnly = parse(config);
    REQUIRE(textOnly);
    CHECK_FALSE(textOnly->shape.hasVision);
    CHECK(textOnly->shape.imageTokenId == -1);
}

TEST_CASE("values the kernels do not implement are refused by name")
{
    struct Case
    {
        std::string field;
        json value;
        std::string_view message;
    };
    const json alternating = { "full", "shared", "full", "shared", "full", "full", "full", "full" };
    const Case cases[] = {
        { "/model_type", "glm4_moe",
          "model_type is \"glm4_moe\", this build implements \"glm5_next\"" },
        { "/tie_word_embeddings", true, "tie_word_embeddings is true" },
        { "/image_token_id", 6144, "image_token_id is 6144" },
        { "/text_config/model_type", "llama", "text_config.model_type is \"llama\"" },
        { "/text_config/tie_word_embeddings", true, "text_config.tie_word_embeddings is true" },
        { "/text_config/attention_bias", true, "text_config.attention_bias is true" },
        { "/text_config/hidden_size", 388,
          "text_config.hidden_size is 388, this build takes multiples of 8" },
        { "/text_config/hidden_size", 0, "text_config.hidden_size is 0" },
        { "/text_config/hidden_size", -384, "text_config.hidden_size is -384" },
        { "/text_config/hidden_size", 1LL << 40,
          "text_config.hidden_size is 1099511627776, this build takes 8 to 65536" },
        { "/text_config/num_hidden_layers", 1000000000,
          "text_config.num_hidden_layers is 1000000000" },
        { "/text_config/num_hidden_layers", 9,
          "text_config.layer_types has 8 entries, expected 9" },
        { "/text_config/vocab_size", 6000, "text_config.eos_token_id is 6084" },
        { "/text_config/vocab_size", 2000000000, "text_config.vocab_size is 2000000000" },
        { "/text_config/eos_token_id", -1, "text_config.eos_token_id is -1" },
        { "/text_config/eos_token_id", json::array(), "text_config.eos_token_id names no token" },
        { "/text_config/hidden_act", "gelu", "text_config.hidden_act is \"gelu\"" },
        { "/text_config/mhc", false, "text_config.mhc is false" },
        { "/text_config/hc_mult", 2, "text_config.hc_mult is 2, this build implements 4" },
        { "/text_config/hc_sinkhorn_iters", 0, "text_config.hc_sinkhorn_iters is 0" },
        { "/text_config/hc_eps", 0.0, "text_config.hc_eps is 0.0" },
        { "/text_config/rms_norm_eps", -1e-5, "text_config.rms_norm_eps is -1e-05" },
        { "/text_config/rms_norm_eps", 1e-60, "text_config.rms_norm_eps is 1e-60" },
        { "/text_config/linear_attn_config/head_dim", 132, "linear_attn_config.head_dim is 132" },
        { "/text_config/linear_attn_config/head_dim", 512, "linear_attn_config.head_dim is 512" },
        { "/text_config/linear_attn_config/num_heads", 0, "linear_attn_config.num_heads is 0" },
        { "/text_config/linear_attn_config/short_conv_kernel_size", 3,
          "short_conv_kernel_size is 3, this build implements 4" },
        { "/text_config/linear_attn_config/gate_lower_bound", 0.0, "gate_lower_bound is 0.0" },
        { "/text_config/linear_attn_config/gate_lower_bound", -50, "gate_lower_bound is -50" },
        { "/text_config/linear_attn_config/kda_layers", { 0, 1, 2 }, "kda_layers contradicts" },
        { "/text_config/linear_attn_config/full_attn_layers",
          { 3, 6 },
          "full_attn_layers contradicts" },
        { "/text_config/layer_types/1", "mamba", "layer_types names the unknown kind \"mamba\"" },
        { "/text_config/mlp_layer_types/1", "wide",
          "mlp_layer_types names the unknown kind \"wide\"" },
        { "/text_config/mlp_layer_types/1", "dense", "first_k_dense_replace is 1, but" },
        { "/text_config/first_k_dense_replace", 3, "first_k_dense_replace is 3, but" },
        { "/text_config/num_key_value_heads", 1,
          "text_config.num_key_value_heads is 1, this build implements 3" },
        { "/text_config/qk_rope_head_dim", 64, "text_config.qk_rope_head_dim is 64" },
        { "/text_config/qk_head_dim", 320, "text_config.qk_head_dim is 320" },
        { "/text_config/mla_use_nope", false, "text_config.mla_use_nope is false" },
        { "/text_config/kv_lora_rank", 12, "text_config.kv_lora_rank is 12" },
        { "/text_config/index_kpool", 17, "text_config.index_kpool is 17" },
        { "/text_config/index_topk", 130,
          "text_config.index_topk is 130, not a multiple of index_kpool 4" },
        { "/text_config/index_kpool_compress", false, "text_config.index_kpool_compress is false" },
        { "/text_config/index_kpool_always_select_tail", false,
          "index_kpool_always_select_tail is false" },
        { "/text_config/indexer_types", alternating,
          "indexer_types makes layer 3 share a selection" },
        { "/text_config/indexer_types/0", "half", "indexer_types names the unknown kind \"half\"" },
        { "/text_config/n_routed_experts", 1000000, "text_config.n_routed_experts is 1000000" },
        { "/text_config/num_experts_per_tok", 17,
          "text_config.num_experts_per_tok is 17, this build takes 1 to 16" },
        { "/text_config/n_group", 2, "text_config.n_group is 2" },
        { "/text_config/topk_group", 2, "text_config.topk_group is 2" },
        { "/text_config/scoring_func", "softmax", "text_config.scoring_func is \"softmax\"" },
        { "/text_config/topk_method", "greedy", "text_config.topk_method is \"greedy\"" },
        { "/text_config/norm_topk_prob", false, "text_config.norm_topk_prob is false" },
        { "/text_config/moe_router_dtype", "bfloat16",
          "text_config.moe_router_dtype is \"bfloat16\"" },
        { "/text_config/routed_scaling_factor", -1, "text_config.routed_scaling_factor is -1" },
        { "/text_config/swiglu_limit", 0, "text_config.swiglu_limit is 0" },
        { "/vision_config/num_heads", 3, "vision_config.num_heads is 3, it does not divide" },
        { "/vision_config/out_hidden_size", 1536, "vision_config.out_hidden_size is 1536" },
    };
    for (const Case &item : cases) {
        CAPTURE(item.field);
        json config = loadConfig("glimmer.json");
        config.at(json::json_pointer(item.field)) = item.value;
        const auto report = parse(config);
        REQUIRE_FALSE(report);
        CAPTURE(report.error().message);
        CHECK(report.error().message.contains(item.message));
    }
}

TEST_CASE("wrong types are a bad checkpoint, by name")
{
    const std::pair<std::string, json> cases[] = {
        { "/text_config", 3 },
        { "/vision_config", json::array() },
        { "/text_config/hidden_size", "384" },
        { "/text_config/hidden_size", 384.0 },
        { "/text_config/hidden_size", json::array({ 384 }) },
        { "/text_config/rms_norm_eps", "1e-5" },
        { "/text_config/mhc", 1 },
        { "/text_config/hc_mult", "4" },
        { "/text_config/hidden_act", true },
        { "/text_config/eos_token_id", "a" },
        { "/text_config/eos_token_id", { 1, "b" } },
        { "/text_config/layer_types", "linear_attention" },
        { "/text_config/layer_types", { 1, 2 } },
        { "/text_config/layer_types", json::array() },
        { "/text_config/linear_attn_config", true },
    };
    for (const auto &[field, value] : cases) {
        CAPTURE(field);
        std::string dotted = field.substr(1);
        std::ranges::replace(dotted, '/', '.');
        json config = loadConfig("glimmer.json");
        config.at(json::json_pointer(field)) = value;
        checkRefused(config.dump(), ErrorCode::BadCheckpoint, dotted);
    }
}

TEST_CASE("a quantised model is refused with the method's name")
{
    const auto path = firesteel::test::dataPath("model_config") / "released.json";
    const auto report = readModelConfig(path);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::UnsupportedModel);
    CHECK(report.error().message
          == path.string()
              + ": quantization_config says that the weights are quantised as exl3_selective_tp4; "
                "this build reads EXL3 and plain BF16, F16 and F32");
}

TEST_CASE("an EXL3 model is known by its method, wherever the config says it")
{
    json config = loadConfig("glimmer.json");
    CHECK_FALSE(parse(config)->isExl3);
    const json exl3 = { { "quant_method", "exl3" }, { "bits", 2.05 }, { "head_bits", 5 } };
    config["quantization_config"] = exl3;
    auto report = parse(config);
    REQUIRE(report);
    CHECK(report->isExl3);
    CHECK(report->unknownFields.empty());
    config.erase("quantization_config");
    config["text_config"]["quantization_config"] = exl3;
    CHECK(parse(config)->isExl3);
}

TEST_CASE("unknown fields are listed and nothing else")
{
    json config = loadConfig("glimmer.json");
    config["new_top"] = 1;
    config["text_config"]["new_text"] = { { "a", 1 } };
    config["vision_config"]["new\nvision"] = nullptr;
    auto report = parse(config);
    REQUIRE(report);
    std::ranges::sort(report->unknownFields);
    CHECK(report->unknownFields
          == std::vector<std::string> { "new_top", "text_config.new_text",
                                        "vision_config.new\\x0Avision" });
}

TEST_CASE("a shared indexer takes the selection of a full layer before it")
{
    json config = loadConfig("glimmer.json");
    config["text_config"]["indexer_types"][7] = "shared";
    const auto report = parse(config);
    REQUIRE(report);
    CHECK(report->shape.indexer.full[3]);
    CHECK_FALSE(report->shape.indexer.full[7]);
}

TEST_CASE("what is not one JSON object is refused")
{
    checkRefused("", ErrorCode::BadCheckpoint, "not JSON");
    checkRefused("hello", ErrorCode::BadCheckpoint, "not JSON");
    checkRefused("[]", ErrorCode::BadCheckpoint, "not a JSON object");
    checkRefused(R"({"model_type": NaN})", ErrorCode::BadCheckpoint, "not JSON");
    checkRefused(R"({"model_type": 1e999})", ErrorCode::BadCheckpoint, "not JSON");
    checkRefused(std::string(1'000'000, '['), ErrorCode::BadCheckpoint, "not JSON");
    checkRefused(R"({"model_type": "glm5_next", "model_type": "x"})", ErrorCode::BadCheckpoint,
                 "model_type is there twice");
}
