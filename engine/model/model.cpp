// SPDX-License-Identifier: MIT
#include "engine/model/model.h"

#include "engine/model/hyper_connection.h"
#include "engine/model/kda_layer.h"
#include "engine/model/mla_layer.h"
#include "engine/model/mlp_layer.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace firesteel::engine {

namespace {

// Rows of one prefill pass: bounds the workspace and the time between looks at a cancel token.
constexpr int kMaxPrefillRows = 512;
static_assert(kMaxPrefillRows % Model::kPrefillAlignment == 0);

struct Layer
{
    HyperConnection attentionSite;
    std::variant<KdaLayer, MlaLayer> attention;
    HyperConnection mlpSite;
    std::variant<DenseMlp, MoeLayer> mlp;
};

class TextModel final : public Model
{
public:
    TextModel(const Checkpoint &checkpoint, kernels::Stream &stream)
        : m_shape(checkpoint.shape())
        , m_stream(stream)
        , m_workspace(m_shape, kMaxPrefillRows)
    {
    }

    Result<void> readWeights(const Checkpoint &checkpoint,
                             const std::function<void(double)> &progress, const CancelToken &cancel,
                             std::uint64_t decodeBudgetBytes);

    const ModelShape &shape() const override { return m_shape; }
    std::uint64_t parameterCount() const override { return m_parameterCount; }
    std::uint64_t workspaceBytes() const override { return m_workspace.bytes(); }
    SequenceState newSequence(int contextTokens) const override;
    void setTapLayers(std::span<const int> layers) override
    {
        m_tapLayers.assign(layers.begin(), layers.end());
    }
    void prefill(SequenceState &sequence, std::span<const std::int32_t> tokens,
                 std::span<float> logits, std::span<float> taps,
                 const LayerObserver &observer) override;
    void decode(std::span<const DecodeRows> batch, std::span<float> logits,
                std::span<float> taps) override;
    void embed(std::span<float> x, std::span<const std::int32_t> ids) override;
    void project(std::span<float> logits, std::span<const float> x, std::int64_t rows) override;
    void observeLinears(LinearObserver observer) override
    {
        m_workspace.linearObserver = std::move(observer);
    }

private:
    void readLayer(WeightReader &weights, int layer);
    // Runs the layers over the rows in m_workspace.streams.
    void forward(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                 RowClass rowClass, std::span<float> taps, const LayerObserver &observer);
    // Writes the tap of one layer, the n-th of m_tapLayers.
    void tap(std::span<float> taps, std::size_t n, std::int64_t rows);
    // Logits of rows [first, first + rows) of the last forward.
    void head(std::span<float> logits, RowClass rowClass, std::int64_t first, std::int64_t rows);

    ModelShape m_shape;
    kernels::Stream &m_stream;
    Workspace m_workspace;
    std::vector<Layer> m_layers;
    std::vector<int> m_tapLayers;
    LinearWeight m_embedding, m_head;
    std::vector<float> m_norm;
    int m_kdaCount = 0;
    int m_mlaCount = 0;
    std::uint64_t m_parameterCount = 0;
};

void TextModel::readLayer(WeightReader &weights, int layer)
{
    const std::string prefix = "model.language_model.layers." + std::to_string(layer) + ".";
    const auto index = static_cast<std::size_t>(layer);
    const auto readAttention = [&]() -> std::variant<KdaLayer, MlaLayer> {
        if (m_shape.attention[index] == AttentionKind::Kda)
            return KdaLayer(weights, prefix + "self_attn.", m_kdaCount++);
        return MlaLayer(weights, prefix + "self_attn.", m_mlaCount++, m_shape.indexer.full[index]);
    };
    const auto readMlp = [&]() -> std::variant<DenseMlp, MoeLayer> {
        if (m_shape.mlp[index] == MlpKind::Dense)
            return DenseMlp(weights, prefix + "mlp.", m_shape.moe.denseWidth);
        return MoeLayer(weights, prefix + "mlp.");
    };
    m_layers.push_back(
        { .attentionSite = { weights, prefix + "hc_attn", prefix + "input_layernorm.weight" },
          .attention = readAttention(),
          .mlpSite = { weights, prefix + "hc_ffn", prefix + "post_attention_layernorm.weight" },
          .mlp = readMlp() });
}

Result<void> TextModel::readWeights(const Checkpoint &checkpoint,
                                    const std::function<void(double)> &progress,
                                    const CancelToken &cancel, std::uint64_t decodeBudgetBytes)
{
    const Exl3Storage storage = decodedExl3Bytes(checkpoint) <= decodeBudgetBytes
        ? Exl3Storage::Decoded
        : Exl3Storage::Kept;
    WeightReader weights(checkpoint, m_stream.pool(), storage);
    m_embedding = weights.dense("model.language_model.embed_tokens", m_shape.vocabularySize,
                                m_shape.hiddenSize);
    m_head = weights.linear("lm_head", m_shape.vocabularySize, m_shape.hiddenSize);
    m_norm = weights.values("model.language_model.norm.weight", { m_shape.hiddenSize });
    m_layers.reserve(static_cast<std::size_t>(m_shape.layerCount));
    for (int layer = 0; layer < m_shape.layerCount && !weights.error(); ++layer) {
        if (cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "Loading was cancelled.");
        readLayer(weights, layer);
        if (progress)
            progress(static_cast<double>(layer + 1) / m_shape.layerCount);
    }
    if (weights.error())
        return std::unexpected(*weights.error());
    m_parameterCount = weights.parameterCount();
    if (storage == Exl3Storage::Kept)
        m_workspace.reserveExl3(m_shape, weights.keptMatrices(), weights.keptExperts(), m_stream);
    return {};
}

SequenceState TextModel::newSequence(int contextTokens) const
{
    const auto channels = static_cast<std::size_t>(m_shape.kda.heads)
        * static_cast<std::size_t>(m_shape.kda.headDim);
    KdaState empty;
    empty.state.resize(channels * static_cast<std::size_t>(m_shape.kda.headDim));
    empty.window.resize(static_cast<std::size_t>(kernels::kKdaWindow) * 3 * channels);

    std::vector<KvCache> mla;
    for (std::size_t layer = 0; layer < m_shape.attention.size(); ++layer)
        if (m_shape.attention[layer] == AttentionKind::Mla)
            mla.emplace_back(
                static_cast<std::size_t>(contextTokens),
                static_cast<std::size_t>(m_shape.mla.kvLoraRank),
                m_shape.indexer.full[layer] ? static_cast<std::size_t>(m_shape.indexer.headDim) : 0,
                static_cast<std::size_t>(m_shape.indexer.pool));
    return { contextTokens, std::vector<KdaState>(static_cast<std::size_t>(m_kdaCount), empty),
             std::move(mla) };
}

void TextModel::prefill(SequenceState &sequence, std::span<const std::int32_t> tokens,
                        std::span<float> logits, std::span<float> taps,
                        const LayerObserver &observer)
{
    if (sequence.pendingRows() != 0)
        throw std::logic_error("Model::prefill: rows are pending");
    if (sequence.position() + static_cast<int>(tokens.size()) > sequence.contextTokens())
        throw std::logic_error("Model::prefill: the sequence is full");
    const auto vocabulary = static_cast<std::size_t>(m_shape.vocabularySize);
    const std::size_t logitRows = logits.size() / vocabulary;
    const std::size_t firstLogitRow = tokens.size() - logitRows;
    const std::size_t tapWidth = taps.size() / std::max<std::size_t>(1, tokens.size());
    for (std::size_t begin = 0; begin < tokens.size();) {
        const int misaligned = sequence.position() % kPrefillAlignment;
        const auto limit = static_cast<std::size_t>(misaligned != 0 ? kPrefillAlignment - misaligned
                                                                    : kMaxPrefillRows);
        const std::span<const std::int32_t> slice
            = tokens.subspan(begin, std::min(limit, tokens.size() - begin));
        const RowGroup group { .sequence = &sequence,
                               .firstRow = 0,
                               .rows = static_cast<std::int64_t>(slice.size()),
                               .firstPosition = sequence.position() };
        forward({ &group, 1 }, slice, RowClass::Prefill,
                taps.subspan(begin * tapWidth, slice.size() * tapWidth), observer);
        sequence.appendCommitted(slice);
        if (const std::size_t wanted = std::max(begin, firstLogitRow);
            wanted < begin + slice.size())
            head(logits.subspan((wanted - firstLogitRow) * vocabulary), RowClass::Prefill,
                 static_cast<std::int64_t>(wanted - begin),
                 static_cast<std::int64_t>(begin + slice.size() - wanted));
        begin += slice.size();
    }
}

void TextModel::decode(std::span<const DecodeRows> batch, std::span<float> logits,
                       std::span<float> taps)
{
    std::vector<RowGroup> groups;
    std::vector<std::int32_t> tokens;
    for (const DecodeRows &rows : batch) {
        if (rows.tokens.empty() || rows.tokens.size() > static_cast<std::size_t>(kMaxDecodeRows))
            throw std::logic_error("Model::decode: a sequence has 1 to 9 rows");
        if (rows.sequence->pendingRows() != 0)
            throw std::logic_error("Model::decode: rows are pending");
        if (rows.sequence->position() + static_cast<int>(rows.tokens.size())
            > rows.sequence->contextTokens())
            throw std::logic_error("Model::decode: the sequence is full");
        groups.push_back({ .sequence = rows.sequence,
                           .firstRow = static_cast<std::int64_t>(tokens.size()),
                           .rows = static_cast<std::int64_t>(rows.tokens.size()),
                           .firstPosition = rows.sequence->position() });
        tokens.insert(tokens.end(), rows.tokens.begin(), rows.tokens.end());
    }
    if (tokens.size() > static_cast<std::size_t>(kernels::kMaxDecodeStepRows))
        throw std::logic_error("Model::decode: too many rows in one step");
    forward(groups, tokens, RowClass::Decode, taps, {});
    for (const DecodeRows &rows : batch)
        rows.sequence->setPending(rows.tokens);
    head(logits, RowClass::Decode, 0, static_cast<std::int64_t>(tokens.size()));
}

void TextModel::forward(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                        RowClass rowClass, std::span<float> taps, const LayerObserver &observer)
{
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const std::int64_t hidden = m_shape.hiddenSize;
    Workspace &w = m_workspace;
    // Every stream starts as the token's embedding.
    const std::span<float> embedded = rowsOf(w.input, hidden, rows);
    kernels::launchEmbed(embedded, tokens, *m_embedding.matrix(), m_stream);
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t s = 0; s < kernels::kHyperStreams; ++s)
            std::ranges::copy(embedded.subspan(static_cast<std::size_t>(t * hidden),
                                               static_cast<std::size_t>(hidden)),
                              w.streams.begin() + (t * kernels::kHyperStreams + s) * hidden);

    std::size_t tapped = 0;
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        const Layer &layer = m_layers[index];
        layer.attentionSite.forward(
            rows, w, m_stream, [&](std::span<float> y, std::span<const float> x) {
                if (const auto *kda = std::get_if<KdaLayer>(&layer.attention))
                    kda->forward(y, x, groups, rowClass, rows, w, m_stream);
                else
                    std::get<MlaLayer>(layer.attention)
                        .forward(y, x, groups, rowClass, rows, w, m_stream);
            });
        layer.mlpSite.forward(rows, w, m_stream, [&](std::span<float> y, std::span<const float> x) {
            std::visit([&](const auto &mlp) { mlp.forward(y, x, rowClass, rows, w, m_stream); },
                       layer.mlp);
        });
        if (!taps.empty() && tapped < m_tapLayers.size()
            && m_tapLayers[tapped] == static_cast<int>(index))
            tap(taps, tapped++, rows);
        if (observer)
            observer(static_cast<int>(index),
                     rowsOf(w.streams, kernels::kHyperStreams * hidden, rows));
    }
}

void TextModel::tap(std::span<float> taps, std::size_t n, std::int64_t rows)
{
    const std::int64_t hidden = m_shape.hiddenSize;
    Workspace &w = m_workspace;
    kernels::launchHyperMean(w.input, rowsOf(w.streams, kernels::kHyperStreams * hidden, rows),
                             hyperShape(m_shape), rows, m_stream);
    const auto layers = static_cast<std::int64_t>(m_tapLayers.size());
    for (std::int64_t t = 0; t < rows; ++t)
        std::ranges::copy(rowsOf(w.input, hidden, 1, t),
                          taps.begin() + (t * layers + static_cast<std::int64_t>(n)) * hidden);
}

void TextModel::embed(std::span<float> x, std::span<const std::int32_t> ids)
{
    kernels::launchEmbed(x, ids, *m_embedding.matrix(), m_stream);
}

void TextModel::project(std::span<float> logits, std::span<const float> x, std::int64_t rows)
{
    m_head.forward(logits, x, RowClass::Decode, rows, m_workspace, m_stream);
}

void TextModel::head(std::span<float> logits, RowClass rowClass, std::int64_t first,
                     std::int64_t rows)
{
    const std::int64_t hidden = m_shape.hiddenSize;
    Workspace &w = m_workspace;
    kernels::launchHyperMean(w.input,
                             rowsOf(w.streams, kernels::kHyperStreams * hidden, rows, first),
                             hyperShape(m_shape), rows, m_stream);
    kernels::launchRmsNorm(w.input, w.input, m_norm, m_shape.rmsNormEps, rows, m_stream);
    m_head.forward(logits, rowsOf(w.input, hidden, rows), rowClass, rows, w, m_stream);
}

} // namespace

Result<std::unique_ptr<Model>> Model::load(const Checkpoint &checkpoint, kernels::Stream &stream,
                                           const std::function<void(double)> &progress,
                                           const CancelToken &cancel,
                                           std::uint64_t decodeBudgetBytes)
{
    auto model = std::make_unique<TextModel>(checkpoint, stream);
    if (Result<void> read = model->readWeights(checkpoint, progress, cancel, decodeBudgetBytes);
        !read)
        return std::unexpected(read.error());
    return model;
}

} // namespace firesteel::engine
