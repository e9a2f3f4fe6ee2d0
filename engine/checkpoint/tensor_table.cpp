// SPDX-License-Identifier: MIT
#include "engine/checkpoint/tensor_table.h"

#include "engine/checkpoint/exl3_group.h"

#include <algorithm>
#include <array>
#include <format>
#include <initializer_list>

namespace firesteel::engine {

namespace {

constexpr std::string_view kWeight = ".weight";

// Bits per weight in the published pack of 2.05 bits.
constexpr int kPlain = 0;
constexpr int kExpertRate = 2;
constexpr int kDenseRate = 3;
constexpr int kAttentionRate = 4;
constexpr int kHeadRate = 5;

// Whether a layer has the modules of the pack's layout.
class LayoutChoice
{
public:
    explicit LayoutChoice(TensorLayout layout)
        : m_isPack(layout == TensorLayout::Exl3Pack)
    {
    }
    explicit LayoutChoice(const Checkpoint &checkpoint)
        : m_checkpoint(&checkpoint)
    {
    }

    bool has(const std::string &module) const
    {
        if (m_checkpoint == nullptr)
            return m_isPack;
        return m_checkpoint->contains(module + std::string(kWeight))
            || hasExl3Group(*m_checkpoint, module);
    }

private:
    const Checkpoint *m_checkpoint = nullptr;
    bool m_isPack = false;
};

class TableBuilder
{
public:
    TableBuilder(const ModelShape &shape, const LayoutChoice &layout)
        : m_shape(shape)
        , m_layout(layout)
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

    ExpectedTensor &add(const std::string &name, Shape shape, Component component,
                        TensorType packType = TensorType::BF16)
    {
        // A whole layer or tower counts as one component.
        return m_table.emplace_back(
            ExpectedTensor { .name = m_prefix + name,
                             .shape = shape,
                             .component = m_whole == Component::Unknown ? component : m_whole,
                             .packType = packType });
    }

    // A layer without a rate is stored as F16 in the pack.
    void addLinear(const std::string &module, std::int64_t out, std::int64_t in,
                   Component component, int packRate)
    {
        ExpectedTensor &tensor
            = add(module + std::string(kWeight), { out, in }, component, TensorType::F16);
        const bool hasBlocks = out % kernels::kExl3Block == 0 && in % kernels::kExl3Block == 0;
        tensor.isLinear = true;
        tensor.packRate = hasBlocks ? packRate : kPlain;
    }

    void addWithBias(const std::string &name, Shape shape, Component component)
    {
        add(name + ".weight", shape, component);
        add(name + ".bias", { *shape.begin() }, component);
    }

    void addLinearWithBias(const std::string &module, std::int64_t out, std::int64_t in,
                           Component component, int packRate)
    {
        addLinear(module, out, in, component, packRate);
        add(module + ".bias", { out }, component, TensorType::F16);
    }

    void addEnds()
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t vocabulary = m_shape.vocabularySize;
        // Looked up, not multiplied with, but a matrix like the others: the pack stores it plainly.
        ExpectedTensor &embedding = add("model.language_model.embed_tokens.weight",
                                        { vocabulary, hidden }, Component::Embedding);
        embedding.isLinear = true;
        add("model.language_model.norm.weight", { hidden }, Component::Norms);
        addLinear("lm_head", vocabulary, hidden, Component::Head, kHeadRate);
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
            addMlp("mlp.", m_shape.moe.denseWidth, Component::DenseMlp, kDenseRate);
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
        constexpr Component kMhc = Component::HyperConnections;
        add(site + "_fn", { rows, streams * m_shape.hiddenSize }, kMhc, TensorType::F32);
        add(site + "_base", { rows }, kMhc, TensorType::F32);
        add(site + "_scale", { 3 }, kMhc, TensorType::F32);
    }

    void addKda()
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t heads = m_shape.kda.heads;
        const std::int64_t dim = m_shape.kda.headDim;
        const std::int64_t channels = heads * dim;
        const std::int64_t kernel = m_shape.kda.convKernel;
        const std::string attention = "self_attn.";
        constexpr Component kKda = Component::Kda;
        if (m_layout.has(m_prefix + attention + "qkv_proj"))
            addLinear(attention + "qkv_proj", 3 * channels, hidden, kKda, kAttentionRate);
        else
            for (const char *part : { "q", "k", "v" })
                addLinear(attention + part + "_proj", channels, hidden, kKda, kAttentionRate);
        if (m_layout.has(m_prefix + attention + "conv1d"))
            add(attention + "conv1d.weight", { 3 * channels, 1, kernel }, kKda);
        else
            for (const char *part : { "q", "k", "v" })
                add(attention + part + "_conv1d.weight", { channels, 1, kernel }, kKda);
        for (const char *gate : { "f", "g" }) {
            addLinear(attention + gate + "_a_proj", dim, hidden, kKda, kPlain);
            addLinear(attention + gate + "_b_proj", channels, dim, kKda, kPlain);
        }
        addLinear(attention + "b_proj", heads, hidden, kKda, kPlain);
        add(attention + "A_log", { heads }, kKda, TensorType::F32);
        add(attention + "dt_bias", { channels }, kKda, TensorType::F32);
        add(attention + "o_norm.weight", { dim }, kKda);
        addLinear(attention + "o_proj", hidden, channels, kKda, kAttentionRate);
    }

    void addMla(bool hasIndexer)
    {
        const auto &mla = m_shape.mla;
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::int64_t heads = mla.heads;
        const std::string attention = "self_attn.";
        constexpr Component kMla = Component::Mla;
        addLinear(attention + "q_a_proj", mla.qLoraRank, hidden, kMla, kAttentionRate);
        add(attention + "q_a_layernorm.weight", { mla.qLoraRank }, kMla);
        addLinear(attention + "q_b_proj", heads * mla.qkHeadDim, mla.qLoraRank, kMla,
                  kAttentionRate);
        addLinear(attention + "kv_a_proj_with_mqa", mla.kvLoraRank, hidden, kMla, kAttentionRate);
        add(attention + "kv_a_layernorm.weight", { mla.kvLoraRank }, kMla);
        addLinear(attention + "kv_b_proj", heads * (mla.qkHeadDim + mla.vHeadDim), mla.kvLoraRank,
                  kMla, kPlain);
        addLinear(attention + "o_proj", hidden, heads * mla.vHeadDim, kMla, kAttentionRate);
        if (hasIndexer)
            addIndexer();
    }

    void addIndexer()
    {
        const auto &indexer = m_shape.indexer;
        const std::int64_t heads = indexer.heads;
        const std::int64_t hidden = m_shape.hiddenSize;
        const std::string part = "self_attn.indexer.";
        constexpr Component kIndexer = Component::Indexer;
        addLinear(part + "wq_b", heads * indexer.headDim, m_shape.mla.qLoraRank, kIndexer,
                  kAttentionRate);
        addLinear(part + "wk", indexer.headDim, hidden, kIndexer, kPlain);
        addWithBias(part + "k_norm", { indexer.headDim }, kIndexer);
        addLinear(part + "weights_proj", heads, hidden, kIndexer, kPlain);
        add(part + "index_kpool_compress_gate", { indexer.headDim, hidden }, kIndexer);
        add(part + "index_kpool_compress_ape", { indexer.pool, indexer.headDim }, kIndexer);
    }

    void addMlp(const std::string &prefix, std::int64_t width, Component component, int packRate)
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        addLinear(prefix + "gate_proj", width, hidden, component, packRate);
        addLinear(prefix + "up_proj", width, hidden, component, packRate);
        addLinear(prefix + "down_proj", hidden, width, component, packRate);
    }

    void addMoe()
    {
        const auto &moe = m_shape.moe;
        addLinear("mlp.gate", moe.experts, m_shape.hiddenSize, Component::Router, kPlain);
        add("mlp.gate.e_score_correction_bias", { moe.experts }, Component::Router,
            TensorType::F32);
        const std::int64_t sharedWidth = std::int64_t { moe.sharedExperts } * moe.expertWidth;
        addMlp("mlp.shared_experts.", sharedWidth, Component::SharedExperts, kAttentionRate);
        for (int expert = 0; expert < moe.experts; ++expert)
            addMlp(std::format("mlp.experts.{}.", expert), moe.expertWidth,
                   Component::RoutedExperts, kExpertRate);
    }

    // Plain residuals: no hyper-connections; embedding and head are the trunk's.
    void addMtpLayer(int layer)
    {
        const std::int64_t hidden = m_shape.hiddenSize;
        m_prefix = std::format("model.language_model.layers.{}.", layer);
        m_whole = Component::Mtp;
        for (const char *norm : { "enorm", "hnorm", "shared_head.norm" })
            add(std::string(norm) + ".weight", { hidden }, Component::Mtp);
        addLinear("eh_proj", hidden, 2 * hidden, Component::Mtp, kExpertRate);
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
        addLinear("merger.proj", out, out, Component::Vision, kHeadRate);
        addWithBias("merger.post_projection_norm", { out }, Component::Vision);
        addLinear("merger.gate_proj", vision.projectionSize, out, Component::Vision, kHeadRate);
        addLinear("merger.up_proj", vision.projectionSize, out, Component::Vision, kHeadRate);
        addLinear("merger.down_proj", out, vision.projectionSize, Component::Vision, kHeadRate);
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
        constexpr Component kVision = Component::Vision;
        const bool isSplit = m_layout.has(m_prefix + block + "attn.q_proj");
        addLinearWithBias(block + "attn.qkv", 3 * width, width, kVision, kPlain);
        if (isSplit) {
            m_table.back().isDuplicate = true;
            m_table[m_table.size() - 2].isDuplicate = true;
            for (const char *part : { "q", "k", "v" })
                addLinearWithBias(block + "attn." + part + "_proj", width, width, kVision,
                                  kHeadRate);
        }
        addLinearWithBias(block + "attn.proj", width, width, kVision, kHeadRate);
        add(block + "attn.q_norm.weight", { width / vision.heads }, Component::Vision);
        add(block + "attn.k_norm.weight", { width / vision.heads }, Component::Vision);
        addLinearWithBias(block + "mlp.gate_proj", inner, width, kVision, kHeadRate);
        addLinearWithBias(block + "mlp.up_proj", inner, width, kVision, kHeadRate);
        addLinearWithBias(block + "mlp.down_proj", width, inner, kVision, kHeadRate);
    }

    const ModelShape &m_shape;
    const LayoutChoice &m_layout;
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

std::string_view ExpectedTensor::module() const
{
    std::string_view text = name;
    if (text.ends_with(kWeight))
        text.remove_suffix(kWeight.size());
    return text;
}

std::vector<ExpectedTensor> expectedTensors(const ModelShape &shape, TensorLayout layout)
{
    return TableBuilder(shape, LayoutChoice(layout)).build();
}

std::vector<ExpectedTensor> expectedTensors(const Checkpoint &checkpoint)
{
    return TableBuilder(checkpoint.shape(), LayoutChoice(checkpoint)).build();
}

std::vector<Error> tensorProblems(const Checkpoint &checkpoint)
{
    const std::vector<ExpectedTensor> table = expectedTensors(checkpoint);
    const auto isGroup = [&](const ExpectedTensor &tensor) {
        return tensor.isLinear && hasExl3Group(checkpoint, tensor.module());
    };
    std::array<bool, kComponentCount> isThere {};
    for (const ExpectedTensor &tensor : table) {
        if (checkpoint.contains(tensor.name) || isGroup(tensor))
            isThere.at(static_cast<std::size_t>(tensor.component)) = true;
    }
    std::vector<Error> problems;
    for (const ExpectedTensor &tensor : table) {
        if (isOptional(tensor.component) && !isThere.at(static_cast<std::size_t>(tensor.component)))
            continue;
        if (isGroup(tensor)) {
            const auto group
                = findExl3Group(checkpoint, tensor.module(), tensor.shape[0], tensor.shape[1]);
            if (!group)
                problems.push_back(group.error());
        } else if (!tensor.isDuplicate || checkpoint.contains(tensor.name)) {
            if (auto result = checkpoint.checkPlain(tensor.name, tensor.shape); !result)
                problems.push_back(std::move(result.error()));
        }
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
