// SPDX-License-Identifier: MIT
#include "engine/model/model.h"

#include "engine/model/hyper_connection.h"
#include "engine/model/kda_layer.h"
#include "engine/model/mla_layer.h"
#include "engine/model/mlp_layer.h"
#include "engine/model/step_tables.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/linear/linear.h"
#include "kernels/norm/norm.h"

#include <algorithm>
#include <array>
#include <format>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace firesteel::engine {

namespace {

// Prefill passes start and end where exactness E2 wants them.
static_assert(kMaxPrefillRows % Model::kPrefillAlignment == 0);
static_assert(kMaxDevicePrefillRows % Model::kPrefillAlignment == 0);

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
    TextModel(const Checkpoint &checkpoint, kernels::Stream &stream, WeightContents contents)
        : m_shape(checkpoint.shape())
        , m_stream(stream)
        , m_isOnDevice(stream.backend() == kernels::Backend::Cuda)
        , m_store(stream, contents)
        , m_workspace(m_shape, m_isOnDevice ? kMaxDevicePrefillRows : kMaxPrefillRows, stream)
    {
    }

    Result<void> readWeights(const Checkpoint &checkpoint,
                             const std::function<void(double)> &progress, const CancelToken &cancel,
                             std::uint64_t decodeBudgetBytes);

    const ModelShape &shape() const override { return m_shape; }
    std::uint64_t parameterCount() const override { return m_parameterCount; }
    std::uint64_t workspaceBytes() const override { return m_workspace.bytes(m_shape); }
    SequenceState newSequence(int contextTokens) override;
    void setTapLayers(std::span<const int> layers) override;
    void prefill(SequenceState &sequence, std::span<const std::int32_t> tokens,
                 std::span<float> logits, std::span<float> taps,
                 const LayerObserver &observer) override;
    void decode(std::span<const DecodeRows> batch, std::span<float> logits,
                std::span<float> taps) override;
    void embed(std::span<float> x, std::span<const std::int32_t> ids) override;
    void project(std::span<float> logits, std::span<const float> x, std::int64_t rows) override;
    void observeLinears(LinearObserver observer) override;
    void forceRouting(std::span<const std::int32_t> experts) override;

private:
    void readLayer(WeightReader &weights, int layer);
    // Describes a call to the kernels.
    void describe(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                  RowClass rowClass);
    // Runs the layers over the described rows and leaves the residual streams complete.
    // taps: where the kernels run; empty, or [rows, tap layers, hidden].
    void forward(RowClass rowClass, std::span<float> taps, const LayerObserver &observer);
    // Writes the tap of one layer, the n-th of m_tapLayers.
    void tap(std::span<float> taps, std::size_t n);
    // Logits of rows [first, first + rows) of the last forward, where the kernels run.
    void head(std::span<float> logits, RowClass rowClass, std::int64_t first, std::int64_t rows);
    // A decode step as the device runs it: recorded once per kind, then replayed.
    void decodeOnDevice(bool isTapped);
    void requireTokens(std::span<const std::int32_t> tokens) const;
    void copyToHost(std::span<float> host, std::span<const float> placed);

    ModelShape m_shape;
    kernels::Stream &m_stream;
    bool m_isOnDevice;
    WeightStore m_store;
    Workspace m_workspace;
    std::optional<StepTables> m_tables;
    std::vector<Layer> m_layers;
    std::vector<int> m_tapLayers;
    LinearWeight m_embedding, m_head;
    kernels::Buffer<float> m_norm;
    int m_kdaCount = 0;
    int m_mlaCount = 0;
    int m_longestContext = 0; // of the sequences made
    std::uint64_t m_parameterCount = 0;

    // By number of sequences, of rows, and whether taps are written. The first step of a kind runs
    // as it comes (kernels are loaded then, which cannot be recorded); the second is recorded.
    using StepKind = std::tuple<std::size_t, std::int64_t, bool>;
    std::map<StepKind, std::optional<kernels::DeviceGraph>> m_graphs;
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
    const Exl3Storage storage = !m_isOnDevice && decodedExl3Bytes(checkpoint) <= decodeBudgetBytes
        ? Exl3Storage::Decoded
        : Exl3Storage::Kept;
    WeightReader weights(checkpoint, m_store, storage);
    m_embedding = weights.dense("model.language_model.embed_tokens", m_shape.vocabularySize,
                                m_shape.hiddenSize);
    m_head = weights.linear("lm_head", m_shape.vocabularySize, m_shape.hiddenSize);
    m_norm = weights.values("model.language_model.norm.weight", { m_shape.hiddenSize });
    m_layers.reserve(static_cast<std::size_t>(m_shape.layerCount));
    for (int layer = 0; layer < m_shape.layerCount && !weights.error(); ++layer) {
        if (cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "Loading was cancelled.");
        readLayer(weights, layer);
        // On the device that was only the list of what to read.
        if (progress && !m_isOnDevice)
            progress(static_cast<double>(layer + 1) / m_shape.layerCount);
    }
    if (weights.error())
        return std::unexpected(*weights.error());
    if (auto loaded = m_store.load(checkpoint, progress, cancel); !loaded)
        return loaded;
    m_parameterCount = weights.parameterCount();
    if (storage == Exl3Storage::Kept)
        m_workspace.reserveExl3(m_shape, weights.keptMatrices(), weights.keptExperts());
    if (weights.hasPlainExperts())
        m_workspace.reservePlainExperts(m_shape);
    m_tables.emplace(static_cast<std::size_t>(m_kdaCount), static_cast<std::size_t>(m_mlaCount),
                     m_workspace.maxRows, m_stream);
    return {};
}

SequenceState TextModel::newSequence(int contextTokens)
{
    if (contextTokens > m_longestContext) {
        m_graphs.clear(); // recorded for less
        m_longestContext = contextTokens;
        m_workspace.reserveContext(m_shape, contextTokens);
    }
    std::vector<KdaState> kda;
    std::vector<KvCache> mla;
    for (std::size_t layer = 0; layer < m_shape.attention.size(); ++layer) {
        if (m_shape.attention[layer] == AttentionKind::Kda)
            kda.emplace_back(m_shape, m_stream);
        else
            mla.emplace_back(
                static_cast<std::size_t>(contextTokens),
                static_cast<std::size_t>(m_shape.mla.kvLoraRank),
                m_shape.indexer.full[layer] ? static_cast<std::size_t>(m_shape.indexer.headDim) : 0,
                static_cast<std::size_t>(m_shape.indexer.pool), m_stream);
    }
    return { contextTokens, std::move(kda), std::move(mla), m_stream };
}

void TextModel::setTapLayers(std::span<const int> layers)
{
    m_graphs.clear();
    m_tapLayers.assign(layers.begin(), layers.end());
    m_workspace.reserveTaps(m_shape, layers.size());
}

void TextModel::observeLinears(LinearObserver observer)
{
    if (m_isOnDevice)
        throw std::logic_error("Model::observeLinears: inputs are on the device");
    m_workspace.linearObserver = std::move(observer);
}

void TextModel::forceRouting(std::span<const std::int32_t> experts)
{
    m_graphs.clear();
    m_workspace.routing = kernels::Buffer<std::int32_t>::copyOf(experts, m_stream);
}

void TextModel::requireTokens(std::span<const std::int32_t> tokens) const
{
    for (const std::int32_t token : tokens)
        if (token < 0 || token >= m_shape.vocabularySize)
            throw std::logic_error(std::format("Model: token {} is not in the vocabulary", token));
}

void TextModel::copyToHost(std::span<float> host, std::span<const float> placed)
{
    if (m_isOnDevice && !host.empty())
        kernels::copyToHost(host.data(), placed.data(), host.size_bytes(), m_stream.cuda());
}

void TextModel::prefill(SequenceState &sequence, std::span<const std::int32_t> tokens,
                        std::span<float> logits, std::span<float> taps,
                        const LayerObserver &observer)
{
    if (sequence.pendingRows() != 0)
        throw std::logic_error("Model::prefill: rows are pending");
    if (sequence.position() + static_cast<int>(tokens.size()) > sequence.contextTokens())
        throw std::logic_error("Model::prefill: the sequence is full");
    requireTokens(tokens);
    const auto vocabulary = static_cast<std::size_t>(m_shape.vocabularySize);
    const std::size_t logitRows = logits.size() / vocabulary;
    const std::size_t firstLogitRow = tokens.size() - logitRows;
    const std::size_t tapWidth = taps.size() / std::max<std::size_t>(1, tokens.size());
    for (std::size_t begin = 0; begin < tokens.size();) {
        const int misaligned = sequence.position() % kPrefillAlignment;
        const auto limit = static_cast<std::size_t>(misaligned != 0 ? kPrefillAlignment - misaligned
                                                                    : m_workspace.maxRows);
        const std::span<const std::int32_t> slice
            = tokens.subspan(begin, std::min(limit, tokens.size() - begin));
        const RowGroup group { .sequence = &sequence,
                               .firstRow = 0,
                               .rows = static_cast<std::int64_t>(slice.size()),
                               .firstPosition = sequence.position() };
        describe({ &group, 1 }, slice, RowClass::Prefill);
        const std::span<float> sliceTaps = taps.subspan(begin * tapWidth, slice.size() * tapWidth);
        const std::span<float> placedTaps
            = m_isOnDevice ? m_workspace.taps.span().first(sliceTaps.size()) : sliceTaps;
        forward(RowClass::Prefill, placedTaps, observer);
        copyToHost(sliceTaps, placedTaps);
        sequence.appendCommitted(slice);
        // The head's buffer on the device holds a decode step's rows.
        for (std::size_t row = std::max(begin, firstLogitRow); row < begin + slice.size();) {
            const std::size_t rows
                = std::min<std::size_t>(begin + slice.size() - row,
                                        m_isOnDevice ? kernels::kMaxDecodeStepRows : slice.size());
            const std::span<float> target
                = logits.subspan((row - firstLogitRow) * vocabulary, rows * vocabulary);
            const std::span<float> placed
                = m_isOnDevice ? m_workspace.logits.span().first(target.size()) : target;
            head(placed, RowClass::Prefill, static_cast<std::int64_t>(row - begin),
                 static_cast<std::int64_t>(rows));
            copyToHost(target, placed);
            row += rows;
        }
        begin += slice.size();
    }
    // Who shares the model's time between prompts and answers measures this call.
    if (m_isOnDevice)
        kernels::synchronize(m_stream.cuda());
}

void TextModel::decode(std::span<const DecodeRows> batch, std::span<float> logits,
                       std::span<float> taps)
{
    std::array<RowGroup, kMaxStepSequences> groups;
    std::array<std::int32_t, kernels::kMaxDecodeStepRows> tokens {};
    if (batch.size() > groups.size())
        throw std::logic_error("Model::decode: too many sequences in one step");
    std::size_t rowCount = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const DecodeRows &rows = batch[i];
        if (rows.tokens.empty() || rows.tokens.size() > static_cast<std::size_t>(kMaxDecodeRows))
            throw std::logic_error("Model::decode: a sequence has 1 to 9 rows");
        if (rows.sequence->pendingRows() != 0)
            throw std::logic_error("Model::decode: rows are pending");
        if (rows.sequence->position() + static_cast<int>(rows.tokens.size())
            > rows.sequence->contextTokens())
            throw std::logic_error("Model::decode: the sequence is full");
        requireTokens(rows.tokens);
        groups.at(i) = { .sequence = rows.sequence,
                         .firstRow = static_cast<std::int64_t>(rowCount),
                         .rows = static_cast<std::int64_t>(rows.tokens.size()),
                         .firstPosition = rows.sequence->position() };
        std::ranges::copy(rows.tokens, tokens.begin() + static_cast<std::ptrdiff_t>(rowCount));
        rowCount += rows.tokens.size();
    }
    describe(std::span(groups).first(batch.size()), std::span(tokens).first(rowCount),
             RowClass::Decode);
    if (m_isOnDevice) {
        decodeOnDevice(!taps.empty());
        copyToHost(logits, m_workspace.logits);
        copyToHost(taps, m_workspace.taps);
    } else {
        forward(RowClass::Decode, taps, {});
        head(logits, RowClass::Decode, 0, static_cast<std::int64_t>(rowCount));
    }
    for (const DecodeRows &rows : batch)
        rows.sequence->setPending(rows.tokens);
}

void TextModel::decodeOnDevice(bool isTapped)
{
    const std::int64_t rows = m_tables->rows();
    const auto enqueue = [&] {
        const std::span<float> taps = isTapped
            ? rowsOf(m_workspace.taps,
                     static_cast<std::int64_t>(m_tapLayers.size()) * m_shape.hiddenSize, rows)
            : std::span<float>();
        forward(RowClass::Decode, taps, {});
        head(m_workspace.logits, RowClass::Decode, 0, rows);
    };
    const StepKind kind { m_tables->step().sequences.size(), rows, isTapped };
    const auto [entry, isNew] = m_graphs.try_emplace(kind);
    if (isNew)
        return enqueue();
    if (!entry->second)
        entry->second.emplace(m_stream.cuda(), enqueue);
    entry->second->launch(m_stream.cuda());
}

void TextModel::describe(std::span<const RowGroup> groups, std::span<const std::int32_t> tokens,
                         RowClass rowClass)
{
    // A decode step of the device is recorded for the longest context.
    std::int64_t longest = m_isOnDevice && rowClass == RowClass::Decode ? m_longestContext : 0;
    for (const RowGroup &group : groups)
        longest = std::max(longest, group.firstPosition + group.rows);
    m_tables->describe(groups, tokens, longest);
}

void TextModel::forward(RowClass rowClass, std::span<float> taps, const LayerObserver &observer)
{
    const StepTables &tables = *m_tables;
    const std::int64_t rows = tables.rows();
    const std::int64_t hidden = m_shape.hiddenSize;
    Workspace &w = m_workspace;
    const std::span<const float> input = rowsOf(w.input, hidden, rows);
    const std::span<float> output = rowsOf(w.output, hidden, rows);
    // Every stream starts as the token's embedding.
    kernels::launchEmbed(w.streams, tables.tokens(), *m_embedding.matrix(), kernels::kHyperStreams,
                         m_stream);
    kernels::HyperUpdate owed;
    const auto settle = [&] {
        if (!owed.y.empty())
            kernels::launchHyperUpdate(w.streams, owed, hyperShape(m_shape), rows, m_stream);
        owed = {};
    };
    std::size_t tapped = 0;
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        const Layer &layer = m_layers[index];
        layer.attentionSite.enter(owed, rows, w, m_stream);
        std::visit(
            [&](const auto &attention) {
                attention.forward(output, input, tables, rowClass, w, m_stream);
            },
            layer.attention);
        layer.mlpSite.enter(HyperConnection::owed(w), rows, w, m_stream);
        std::visit(
            [&](const auto &mlp) { mlp.forward(output, input, rowClass, rows, w, m_stream); },
            layer.mlp);
        owed = HyperConnection::owed(
            w,
            std::holds_alternative<MoeLayer>(layer.mlp) ? w.mlp.shared.span() : std::span<float>());
        if (!taps.empty() && tapped < m_tapLayers.size()
            && m_tapLayers[tapped] == static_cast<int>(index)) {
            settle();
            tap(taps, tapped++);
        }
        if (observer) {
            settle();
            const std::span<float> streams
                = rowsOf(w.streams, kernels::kHyperStreams * hidden, rows);
            std::vector<float> seen(streams.size());
            if (m_isOnDevice)
                copyToHost(seen, streams);
            else
                std::ranges::copy(streams, seen.begin());
            observer(static_cast<int>(index), seen);
        }
    }
    settle();
}

void TextModel::tap(std::span<float> taps, std::size_t n)
{
    const std::int64_t hidden = m_shape.hiddenSize;
    const std::int64_t rows = m_tables->rows();
    kernels::launchHyperMean(taps.subspan(n * static_cast<std::size_t>(hidden)),
                             rowsOf(m_workspace.streams, kernels::kHyperStreams * hidden, rows),
                             hyperShape(m_shape), rows, m_stream,
                             static_cast<std::int64_t>(m_tapLayers.size()) * hidden);
}

void TextModel::embed(std::span<float> x, std::span<const std::int32_t> ids)
{
    requireTokens(ids);
    if (!m_isOnDevice)
        return kernels::launchEmbed(x, ids, *m_embedding.matrix(), 1, m_stream);
    const auto placedIds = kernels::Buffer<std::int32_t>::copyOf(ids, m_stream);
    const auto rows = kernels::Buffer<float>::uninitialized(x.size(), m_stream);
    kernels::launchEmbed(rows, placedIds, *m_embedding.matrix(), 1, m_stream);
    copyToHost(x, rows);
}

void TextModel::project(std::span<float> logits, std::span<const float> x, std::int64_t rows)
{
    Workspace &w = m_workspace;
    if (!m_isOnDevice)
        return m_head.forward(logits, x, RowClass::Decode, rows, w, m_stream);
    w.input.assign(x, m_stream);
    m_head.forward(w.logits, w.input, RowClass::Decode, rows, w, m_stream);
    copyToHost(logits, w.logits);
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

std::string whyNotOnDevice(const ModelShape &shape)
{
    const auto differs = [](const char *what, std::int64_t is, std::int64_t wanted) {
        return std::format("The GPU kernels need {} {}, this model has {}: it runs on the CPU.",
                           what, wanted, is);
    };
    if (shape.hiddenSize % 128 != 0 || shape.hiddenSize > 4096)
        return std::format("The GPU kernels need a hidden size that is a multiple of 128 up to "
                           "4096, this model has {}: it runs on the CPU.",
                           shape.hiddenSize);
    if (shape.kda.headDim != kernels::kKdaCudaHeadDim)
        return differs("KDA heads of", shape.kda.headDim, kernels::kKdaCudaHeadDim);
    if (shape.mla.kvLoraRank != 512)
        return differs("latents of", shape.mla.kvLoraRank, 512);
    if (shape.mla.qkHeadDim != 256)
        return differs("attention keys of", shape.mla.qkHeadDim, 256);
    if (shape.mla.vHeadDim != 256)
        return differs("attention values of", shape.mla.vHeadDim, 256);
    if (shape.indexer.headDim != 128)
        return differs("index keys of", shape.indexer.headDim, 128);
    if (shape.indexer.pool != 4)
        return differs("index pools of", shape.indexer.pool, 4);
    return {};
}

Result<std::unique_ptr<Model>> Model::load(const Checkpoint &checkpoint, kernels::Stream &stream,
                                           const std::function<void(double)> &progress,
                                           const CancelToken &cancel,
                                           std::uint64_t decodeBudgetBytes, WeightContents contents)
{
    if (contents == WeightContents::Random && stream.backend() != kernels::Backend::Cuda)
        return fail(ErrorCode::BadRequest, "Random weights are made on a GPU.");
    if (stream.backend() == kernels::Backend::Cuda)
        if (std::string why = whyNotOnDevice(checkpoint.shape()); !why.empty())
            return fail(ErrorCode::UnsupportedModel, std::move(why));
    auto model = std::make_unique<TextModel>(checkpoint, stream, contents);
    if (Result<void> read = model->readWeights(checkpoint, progress, cancel, decodeBudgetBytes);
        !read)
        return std::unexpected(read.error());
    return model;
}

} // namespace firesteel::engine
