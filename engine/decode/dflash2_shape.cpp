// SPDX-License-Identifier: MIT
#include "engine/decode/dflash2_shape.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/config_reader.h"
#include "engine/decode/drafter.h"

#include <algorithm>
#include <format>

namespace firesteel::engine {

namespace {

constexpr IntegerRange kWidth { .min = 8, .max = 1 << 20, .multipleOf = 8 };
constexpr IntegerRange kHeads { .min = 1, .max = 1024 };

void readDflash(ConfigObject &dflash, Dflash2Shape &shape, const ModelShape &target)
{
    shape.blockRows = dflash.integer("block_size", { .min = 2, .max = kMaxDecodeRows });
    dflash.expectInteger("conv_kernel_size", 2);
    shape.convGroup = dflash.integer("conv_group_size", { .min = 1, .max = 1 << 20 });
    if (shape.hiddenSize % shape.convGroup != 0)
        dflash.reportUnsupported("conv_group_size",
                                 std::format("is {}, it does not divide hidden_size {}",
                                             shape.convGroup, shape.hiddenSize));
    shape.maskTokenId
        = dflash.integer("mask_token_id", { .min = 0, .max = target.vocabularySize - 1 });
    shape.selectorRank = dflash.integer("selector_rank", kWidth);
    shape.selectorTopK = dflash.integer("selector_top_k", { .min = 1, .max = 1024 });
    shape.tapLayers
        = dflash.integers("target_layer_ids", { .min = 0, .max = target.layerCount - 1 },
                          static_cast<std::size_t>(target.layerCount));
    if (shape.tapLayers.empty() || !std::ranges::is_sorted(shape.tapLayers, std::less_equal()))
        dflash.reportUnsupported("target_layer_ids", "is no rising list of layers");
}

void readLayers(ConfigObject &config, Dflash2Shape &shape)
{
    shape.layerCount = config.integer("num_hidden_layers", { .min = 1, .max = 64 });
    for (const std::string_view kind :
         config.strings("layer_types", static_cast<std::size_t>(shape.layerCount)))
        if (kind != "sliding_attention")
            config.reportUnsupported("layer_types",
                                     std::format("names \"{}\", this build takes "
                                                 "sliding_attention",
                                                 printable(kind, 60)));
    shape.window = config.integer("sliding_window", { .min = 2, .max = 1 << 20 });
    shape.intermediateSize = config.integer("intermediate_size", kWidth);
    shape.heads = config.integer("num_attention_heads", kHeads);
    shape.kvHeads = config.integer("num_key_value_heads", kHeads);
    if (shape.heads % shape.kvHeads != 0)
        config.reportUnsupported("num_key_value_heads",
                                 std::format("is {}, it does not divide num_attention_heads {}",
                                             shape.kvHeads, shape.heads));
    shape.headDim = config.integer("head_dim", { .min = 8, .max = 1024, .multipleOf = 8 });
    config.expectFlag("attention_bias", false);
    config.expectFlag("is_causal", false);
    config.expectText("hidden_act", "silu");
    shape.rmsNormEps = config.real("rms_norm_eps", { .min = 1e-12, .max = 0.1 });
    if (auto rope = config.object("rope_parameters")) {
        rope->expectText("rope_type", "default");
        shape.ropeTheta = static_cast<double>(rope->real("rope_theta", { .min = 1, .max = 1e9 }));
    }
}

} // namespace

Result<Dflash2Shape> parseDflash2Config(std::string_view json, std::string_view fileName,
                                        const ModelShape &target)
{
    simdjson::dom::parser parser;
    const auto root = parseJsonObject(parser, json, fileName);
    if (!root)
        return std::unexpected(root.error());
    ConfigProblems problems(fileName);
    ConfigObject config(*root, "", problems);
    Dflash2Shape shape;
    for (const std::string_view name : config.strings("architectures", 1))
        if (name != "DFlash2DraftModel")
            config.reportUnsupported(
                "architectures",
                std::format("names \"{}\", expected DFlash2DraftModel", printable(name, 60)));
    config.expectInteger("num_target_layers", target.layerCount);
    config.expectInteger("vocab_size", target.vocabularySize);
    config.expectInteger("hidden_size", target.hiddenSize);
    shape.hiddenSize = target.hiddenSize;
    shape.vocabularySize = target.vocabularySize;
    readLayers(config, shape);
    if (auto dflash = config.object("dflash_config"))
        readDflash(*dflash, shape, target);
    if (const auto &problem = problems.first())
        return std::unexpected(*problem);
    return shape;
}

Result<Dflash2Shape> readDflash2Config(const std::filesystem::path &configJson,
                                       const ModelShape &target)
{
    const auto file = openConfig(configJson);
    if (!file)
        return std::unexpected(file.error());
    return parseDflash2Config(textOf(*file), configJson.string(), target);
}

} // namespace firesteel::engine
