// SPDX-License-Identifier: MIT
#include "engine/checkpoint/tensor_table.h"

#include <algorithm>
#include <array>
#include <format>
#include <initializer_list>

namespace firesteel::engine {

namespace {

class TableBuilder
{
public:
    explicit TableBuilder(const ModelShape &shape)
        : m_shape(shape)
    {
    }

    std::vector<ExpectedTensor> build()
    {
        addEnds();
        for (int layer = 0; layer < m_shape.layerCount; ++layer)
            addLayer(layer);
        if (m_shape.hasVision)
            addVision();
        for (int layer = 0; layer < m_shape.mtpLayerCount; ++layer)
            addMtpLayer(m_shape.layerCount + layer);
        return std::move(m_table);
    }

private:
    using Shape = std::initializer_list<std::int64_t>;

    void add(const std::string &name, Shape shape, Component component)
    {
        // A whole layer or tower counts as one component.
        m_table.push_back(
            { m_prefix + name, shape, m_whole == Component::Unknown ? component : m_whole });
    }

    void addWithBias(const std::string &name, Shape shape, Component component)
    {
        add(name + ".weight", shape, component);
        add(name + ".bias", { *shape.begin() }, component);
    }

    void addEnds()
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t vocabulary = m_shape.vocabularySize;
        add("model.language_model.embed_tokens.weight", { vocabulary, hidden },
            Component::Embedding);
        add("model.language_model.norm.weight", { hidden }, Component::Norms);
        add("lm_head.weight", { vocabulary, hidden }, Component::Head);
    }

    void addLayer(int layer)
    {
        const auto index = static_cast<std::size_t>(layer);
        m_prefix = std::format("model.language_model.layers.{}.", layer);
        addLayerNorms();
        addHyperConnection("hc_attn");
        addHyperConnection("hc_ffn");
        if (m_shape.attention[index] == AttentionKind::Kda)
            addKda();
        else
            addMla(m_shape.indexer.full[index]);
        if (m_shape.mlp[index] == MlpKind::Dense)
            addMlp("mlp.", m_shape.moe.denseWidth, Component::DenseMlp);
        else
            addMoe();
        m_prefix.clear();
    }

    void addLayerNorms()
    {
        add("input_layernorm.weight", { m_shape.hiddenSize }, Component::Norms);
        add("post_attention_layernorm.weight", { m_shape.hiddenSize }, Component::Norms);
    }

    void addHyperConnection(const std::string &site)
    {
        const std::int64_t streams = m_shape.hyper.streams;
        const std::int64_t rows = (2 + streams) * streams;
        add(site + "_fn", { rows, streams * m_shape.hiddenSize }, Component::HyperConnections);
        add(site + "_base", { rows }, Component::HyperConnections);
        add(site + "_scale", { 3 }, Component::HyperConnections);
    }

    void addKda()
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t heads = m_shape.kda.heads;
        const std::int64_t dim = m_shape.kda.headDim;
        const std::int64_t channels = heads * dim;
        const std::string attention = "self_attn.";
        for (const char *part : { "q", "k", "v" }) {
            add(attention + part + "_proj.weight", { channels, hidden }, Component::Kda);
            add(attention + part + "_conv1d.weight", { channels, 1, m_shape.kda.convKernel },
                Component::Kda);
        }
        for (const char *gate : { "f", "g" }) {
            add(attention + gate + "_a_proj.weight", { dim, hidden }, Component::Kda);
            add(attention + gate + "_b_proj.weight", { channels, dim }, Component::Kda);
        }
        add(attention + "b_proj.weight", { heads, hidden }, Component::Kda);
        add(attention + "A_log", { heads }, Component::Kda);
        add(attention + "dt_bias", { channels }, Component::Kda);
        add(attention + "o_norm.weight", { dim }, Component::Kda);
        add(attention + "o_proj.weight", { hidden, channels }, Component::Kda);
    }

    void addMla(bool hasIndexer)
    {
        const auto &mla = m_shape.mla;
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t heads = mla.heads;
        const std::string attention = "self_attn.";
        add(attention + "q_a_proj.weight", { mla.qLoraRank, hidden }, Component::Mla);
        add(attention + "q_a_layernorm.weight", { mla.qLoraRank }, Component::Mla);
        add(attention + "q_b_proj.weight", { heads * mla.qkHeadDim, mla.qLoraRank },
            Component::Mla);
        add(attention + "kv_a_proj_with_mqa.weight", { mla.kvLoraRank, hidden }, Component::Mla);
        add(attention + "kv_a_layernorm.weight", { mla.kvLoraRank }, Component::Mla);
        add(attention + "kv_b_proj.weight",
            { heads * (mla.qkHeadDim + mla.vHeadDim), mla.kvLoraRank }, Component::Mla);
        add(attention + "o_proj.weight", { hidden, heads * mla.vHeadDim }, Component::Mla);
        if (hasIndexer)
            addIndexer();
    }

    void addIndexer()
    {
        const auto &indexer = m_shape.indexer;
        const std::int64_t heads = indexer.heads;
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::string part = "self_attn.indexer.";
        add(part + "wq_b.weight", { heads * indexer.headDim, m_shape.mla.qLoraRank },
            Component::Indexer);
        add(part + "wk.weight", { indexer.headDim, hidden }, Component::Indexer);
        addWithBias(part + "k_norm", { indexer.headDim }, Component::Indexer);
        add(part + "weights_proj.weight", { heads, hidden }, Component::Indexer);
        add(part + "index_kpool_compress_gate", { indexer.headDim, hidden }, Component::Indexer);
        add(part + "index_kpool_compress_ape", { indexer.pool, indexer.headDim },
            Component::Indexer);
    }

    void addMlp(const std::string &prefix, std::int64_t width, Component component)
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        add(prefix + "gate_proj.weight", { width, hidden }, component);
        add(prefix + "up_proj.weight", { width, hidden }, component);
        add(prefix + "down_proj.weight", { hidden, width }, component);
    }

    void addMoe()
    {
        const auto &moe = m_shape.moe;
        add("mlp.gate.weight", { moe.experts, m_shape.hiddenSize }, Component::Router);
        add("mlp.gate.e_score_correction_bias", { moe.experts }, Component::Router);
        const std::int64_t sharedWidth = std::int64_t { moe.sharedExperts } * moe.expertWidth;
        addMlp("mlp.shared_experts.", sharedWidth, Component::SharedExperts);
        for (int expert = 0; expert < moe.experts; ++expert)
            addMlp(std::format("mlp.experts.{}.", expert), moe.expertWidth,
                   Component::RoutedExperts);
    }

    // Plain residuals: no hyper-connections; embedding and head are the trunk's.
    void addMtpLayer(int layer)
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        m_prefix = std::format("model.language_model.layers.{}.", layer);
        m_whole = Component::Mtp;
        for (const char *norm : { "enorm", "hnorm", "shared_head.norm" })
            add(std::string(norm) + ".weight", { hidden }, Component::Mtp);
        add("eh_proj.weight", { hidden, 2 * hidden }, Component::Mtp);
        addLayerNorms();
        addMla(true);
        addMoe();
        m_whole = Component::Unknown;
        m_prefix.clear();
    }

    void addVision()
    {
        const auto &vision = m_shape.vision;
        const std::int64_t width = vision.hiddenSize;
        const std::int64_t out = m_shape.hiddenSize;
        m_prefix = "model.visual.";
        m_whole = Component::Vision;
        addWithBias("patch_embed.proj",
                    { width, vision.channels, vision.temporalPatchSize, vision.patchSize,
                      vision.patchSize },
                    Component::Vision);
        for (int block = 0; block < vision.depth; ++block)
            addVisionBlock(std::format("blocks.{}.", block));
        add("post_layernorm.weight", { width }, Component::Vision);
        addWithBias("downsample", { out, width, vision.mergeSize, vision.mergeSize },
                    Component::Vision);
        add("merger.proj.weight", { out, out }, Component::Vision);
        addWithBias("merger.post_projection_norm", { out }, Component::Vision);
        add("merger.gate_proj.weight", { vision.projectionSize, out }, Component::Vision);
        add("merger.up_proj.weight", { vision.projectionSize, out }, Component::Vision);
        add("merger.down_proj.weight", { out, vision.projectionSize }, Component::Vision);
        m_whole = Component::Unknown;
        m_prefix.clear();
    }

    void addVisionBlock(const std::string &block)
    {
        const auto &vision = m_shape.vision;
        const std::int64_t width = vision.hiddenSize;
        const std::int64_t inner = vision.intermediateSize;
        add(block + "norm1.weight", { width }, Component::Vision);
        add(block + "norm2.weight", { width }, Component::Vision);
        addWithBias(block + "attn.qkv", { 3 * width, width }, Component::Vision);
        addWithBias(block + "attn.proj", { width, width }, Component::Vision);
        add(block + "attn.q_norm.weight", { width / vision.heads }, Component::Vision);
        add(block + "attn.k_norm.weight", { width / vision.heads }, Component::Vision);
        addWithBias(block + "mlp.gate_proj", { inner, width }, Component::Vision);
        addWithBias(block + "mlp.up_proj", { inner, width }, Component::Vision);
        addWithBias(block + "mlp.down_proj", { width, inner }, Component::Vision);
    }

    const ModelShape &m_shape;
    std::string m_prefix;
    Component m_whole = Component::Unknown; // what every tensor counts as, if set
    std::vector<ExpectedTensor> m_table;
};

bool isOptional(Component component)
{
    return component == Component::Vision || component == Component::Mtp;
}

} // namespace

std::string_view componentName(Component component)
{
    constexpr std::array<std::string_view, kComponentCount> kNames {
        "KDA",    "MLA",     "indexer", "dense MLP", "shared experts", "routed experts",
        "router", "mHC",     "norms",   "head",      "embedding",      "vision",
        "MTP",    "unknown",
    };
    return kNames.at(static_cast<std::size_t>(component));
}

std::vector<ExpectedTensor> expectedTensors(const ModelShape &shape)
{
    return TableBuilder(shape).build();
}

std::vector<Error> tensorProblems(const Checkpoint &checkpoint)
{
    const std::vector<ExpectedTensor> table = expectedTensors(checkpoint.shape());
    std::array<bool, kComponentCount> isThere {};
    for (const ExpectedTensor &tensor : table) {
        if (checkpoint.contains(tensor.name))
            isThere.at(static_cast<std::size_t>(tensor.component)) = true;
    }
    std::vector<Error> problems;
    for (const ExpectedTensor &tensor : table) {
        if (isOptional(tensor.component) && !isThere.at(static_cast<std::size_t>(tensor.component)))
            continue;
        if (auto result = checkpoint.checkPlain(tensor.name, tensor.shape); !result)
            problems.push_back(std::move(result.error()));
    }
    return problems;
}

Result<void> validateTensors(const Checkpoint &checkpoint)
{
    std::vector<Error> problems = tensorProblems(checkpoint);
    if (problems.empty())
        return {};
    return std::unexpected(std::move(problems.front()));
}

} // namespace firesteel::engine
