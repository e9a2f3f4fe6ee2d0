// SPDX-License-Identifier: MIT
#include "engine/decode/dflash2_drafter.h"

#include "engine/checkpoint/exl3_group.h"
#include "engine/decode/philox.h"
#include "kernels/linear/linear.h"
#include "kernels/moe/moe.h"
#include "kernels/norm/norm.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace firesteel::engine {

namespace {

std::span<float> sized(std::vector<float> &buffer, std::int64_t values)
{
    if (buffer.size() < static_cast<std::size_t>(values))
        buffer.resize(static_cast<std::size_t>(values));
    return std::span(buffer).first(static_cast<std::size_t>(values));
}

std::uint64_t contextBytes(const Dflash2Shape &shape)
{
    return static_cast<std::uint64_t>(shape.layerCount) * static_cast<std::uint64_t>(shape.window)
        * static_cast<std::uint64_t>(shape.kvHeads) * static_cast<std::uint64_t>(shape.headDim) * 2
        * sizeof(float);
}

// Memory that decoding the folder's EXL3 modules takes.
Result<std::uint64_t> decodedBytes(const TensorFolder &folder)
{
    constexpr std::string_view kSuffix = ".trellis";
    std::uint64_t bytes = 0;
    for (const auto &[name, tensor] : folder.tensors()) {
        if (!name.ends_with(kSuffix))
            continue;
        const auto group
            = findExl3Group(folder, std::string_view(name).substr(0, name.size() - kSuffix.size()));
        if (!group)
            return std::unexpected(group.error());
        bytes += static_cast<std::uint64_t>(group->in) * static_cast<std::uint64_t>(group->out)
            * sizeof(float);
    }
    return bytes;
}

} // namespace

Dflash2Drafter::Dflash2Drafter(const Dflash2Shape &shape, TensorFolder folder, Model &target,
                               kernels::Stream &stream, int slots)
    : m_shape(shape)
    , m_folder(std::move(folder))
    , m_target(target)
    , m_stream(stream)
    , m_store(stream)
    , m_attention { .heads = shape.heads,
                    .kvHeads = shape.kvHeads,
                    .headDim = shape.headDim,
                    .window = shape.window }
{
    const auto context = static_cast<std::size_t>(m_attention.window * m_attention.keyWidth());
    m_slots.resize(static_cast<std::size_t>(slots));
    for (Slot &slot : m_slots) {
        slot.keys.assign(static_cast<std::size_t>(shape.layerCount), std::vector<float>(context));
        slot.values = slot.keys;
    }
}

Result<std::unique_ptr<Dflash2Drafter>> Dflash2Drafter::load(const std::filesystem::path &directory,
                                                             Model &target, kernels::Stream &stream,
                                                             int slots)
{
    const auto shape = readDflash2Config(directory / "config.json", target.shape());
    if (!shape)
        return std::unexpected(shape.error());
    auto folder = TensorFolder::open(directory);
    if (!folder)
        return std::unexpected(folder.error());
    // The constructor is private, so no make_unique.
    std::unique_ptr<Dflash2Drafter> drafter(
        new Dflash2Drafter(*shape, std::move(*folder), target, stream, slots));
    if (auto read = drafter->readWeights(); !read)
        return std::unexpected(read.error());
    return drafter;
}

Result<std::uint64_t> Dflash2Drafter::neededBytes(const std::filesystem::path &directory,
                                                  const ModelShape &target, int slots)
{
    const auto shape = readDflash2Config(directory / "config.json", target);
    if (!shape)
        return std::unexpected(shape.error());
    const auto folder = TensorFolder::open(directory);
    if (!folder)
        return std::unexpected(folder.error());
    const auto decoded = decodedBytes(*folder);
    if (!decoded)
        return std::unexpected(decoded.error());
    return folder->totalBytes() + *decoded
        + static_cast<std::uint64_t>(slots) * contextBytes(*shape);
}

Dflash2Drafter::Layer Dflash2Drafter::readLayer(WeightReader &weights,
                                                const std::string &prefix) const
{
    const std::int64_t hidden = m_shape.hiddenSize;
    const std::int64_t width = m_shape.intermediateSize;
    const std::int64_t coefficients = std::int64_t { 4 } * m_shape.convGroups();
    const std::string attention = prefix + "self_attn.";
    const auto convolution = [&](const std::string &name) {
        return Convolution { .base = weights.values(name + ".base_kernel", { 2, 2, hidden }),
                             .projection
                             = weights.dense(name + ".kernel_projection", coefficients, hidden) };
    };
    return { .inputNorm = weights.values(prefix + "input_layernorm.weight", { hidden }),
             .attentionNorm
             = weights.values(prefix + "post_attention_layernorm.weight", { hidden }),
             .queryNorm = weights.values(attention + "q_norm.weight", { m_shape.headDim }),
             .keyNorm = weights.values(attention + "k_norm.weight", { m_shape.headDim }),
             .query = weights.dense(attention + "q_proj", m_attention.queryWidth(), hidden),
             .key = weights.dense(attention + "k_proj", m_attention.keyWidth(), hidden),
             .value = weights.dense(attention + "v_proj", m_attention.keyWidth(), hidden),
             .output = weights.dense(attention + "o_proj", hidden, m_attention.queryWidth()),
             .gate = weights.dense(prefix + "mlp.gate_proj", width, hidden),
             .up = weights.dense(prefix + "mlp.up_proj", width, hidden),
             .down = weights.dense(prefix + "mlp.down_proj", hidden, width),
             .attention = convolution(prefix + "attention_conv"),
             .mlp = convolution(prefix + "mlp_conv") };
}

Result<void> Dflash2Drafter::readWeights()
{
    const auto decoded = decodedBytes(m_folder);
    if (!decoded)
        return std::unexpected(decoded.error());
    m_decodedBytes = *decoded;
    WeightReader weights(m_folder, m_target.shape(), m_store, Exl3Storage::Decoded);
    const std::int64_t hidden = m_shape.hiddenSize;
    const std::int64_t vocabulary = m_shape.vocabularySize;
    const std::int64_t rank = m_shape.selectorRank;
    m_fuse
        = weights.dense("fc", hidden, hidden * static_cast<std::int64_t>(m_shape.tapLayers.size()));
    m_contextNorm = weights.values("hidden_norm.weight", { hidden });
    m_norm = weights.values("norm.weight", { hidden });
    const std::string selector = "candidate_selector.";
    m_hiddenProjection = weights.dense(selector + "hidden_projection", rank, hidden);
    m_predecessors = weights.table(selector + "predecessor_codebook", vocabulary, rank);
    m_successors = weights.table(selector + "successor_codebook", vocabulary, rank);
    m_layers.reserve(static_cast<std::size_t>(m_shape.layerCount));
    for (int layer = 0; layer < m_shape.layerCount && !weights.error(); ++layer)
        m_layers.push_back(readLayer(weights, "layers." + std::to_string(layer) + "."));
    if (weights.error())
        return std::unexpected(*weights.error());
    return {};
}

std::uint64_t Dflash2Drafter::bytes() const
{
    return m_decodedBytes + m_slots.size() * contextBytes(m_shape);
}

kernels::DraftContextView Dflash2Drafter::context(int slot, int layer) const
{
    const Slot &s = m_slots[static_cast<std::size_t>(slot)];
    const auto index = static_cast<std::size_t>(layer);
    return { s.keys[index], s.values[index], s.first, s.end };
}

void Dflash2Drafter::restart(int slot)
{
    Slot &s = m_slots[static_cast<std::size_t>(slot)];
    s.first = s.end = 0;
}

void Dflash2Drafter::rewind(int slot, int position)
{
    Slot &s = m_slots[static_cast<std::size_t>(slot)];
    s.end = std::min<std::int64_t>(s.end, position);
    s.first = std::min(s.first, s.end);
}

void Dflash2Drafter::linear(std::vector<float> &y, std::span<const float> x,
                            const LinearWeight &weight, std::int64_t rows)
{
    kernels::launchLinear(sized(y, rows * weight.outputs()), x, *weight.matrix(), rows,
                          kernels::RowClass::Decode, m_stream);
}

void Dflash2Drafter::extend(int slot, int position, std::span<const float> taps)
{
    Slot &s = m_slots[static_cast<std::size_t>(slot)];
    const auto tapWidth = static_cast<std::int64_t>(m_fuse.inputs());
    std::int64_t first = position;
    std::int64_t rows = static_cast<std::int64_t>(taps.size()) / tapWidth;
    if (first < s.end)
        throw std::logic_error("Dflash2Drafter::extend: positions go back");
    if (rows > m_attention.window) { // the older ones would be overwritten
        first += rows - m_attention.window;
        taps = taps.subspan(static_cast<std::size_t>((rows - m_attention.window) * tapWidth));
        rows = m_attention.window;
    }
    if (first != s.end)
        s.first = first;
    linear(m_features, taps, m_fuse, rows);
    kernels::launchRmsNorm(m_features, m_features, m_contextNorm, m_shape.rmsNormEps, rows,
                           m_stream);
    if (m_trace != nullptr)
        m_trace->features.assign(m_features.begin(),
                                 m_features.begin() + rows * m_shape.hiddenSize);
    const std::int64_t width = m_attention.keyWidth();
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        const Layer &layer = m_layers[index];
        linear(m_k, m_features, layer.key, rows);
        linear(m_v, m_features, layer.value, rows);
        kernels::launchDraftNormRope(m_k, layer.keyNorm, m_shape.rmsNormEps, m_shape.ropeTheta,
                                     first, m_attention.kvHeads, rows, m_stream);
        for (std::int64_t t = 0; t < rows; ++t) {
            const std::int64_t ring = (first + t) % m_attention.window * width;
            std::copy_n(m_k.begin() + t * width, width, s.keys[index].begin() + ring);
            std::copy_n(m_v.begin() + t * width, width, s.values[index].begin() + ring);
        }
    }
    s.end = first + rows;
    s.first = std::max(s.first, s.end - m_attention.window);
}

void Dflash2Drafter::convolve(std::vector<float> &y, std::span<const float> x,
                              const Convolution &convolution, int side, std::int64_t blockRows,
                              std::int64_t rows)
{
    const std::int64_t hidden = m_shape.hiddenSize;
    const std::int64_t perSide = std::int64_t { 2 } * m_shape.convGroups();
    const kernels::DraftConvShape shape { .channels = hidden,
                                          .group = m_shape.convGroup,
                                          .blockRows = blockRows,
                                          .dynamicStride = 2 * perSide };
    kernels::launchDraftConv(
        sized(y, rows * hidden), x,
        convolution.base.span().subspan(static_cast<std::size_t>(side * 2 * hidden)),
        std::span(m_dynamic).subspan(static_cast<std::size_t>(side * perSide)), shape, rows,
        m_stream);
}

// m_x += m_mixed.
void Dflash2Drafter::addResidual(std::int64_t rows)
{
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows * m_shape.hiddenSize); ++i)
        m_x[i] += m_mixed[i];
}

// m_mixed in, m_o out: attention of every job's block.
void Dflash2Drafter::attend(const Layer &layer, std::size_t index, std::span<const DraftJob> jobs,
                            std::int64_t blockRows)
{
    const std::int64_t rows = blockRows * static_cast<std::int64_t>(jobs.size());
    linear(m_q, m_mixed, layer.query, rows);
    linear(m_k, m_mixed, layer.key, rows);
    linear(m_v, m_mixed, layer.value, rows);
    sized(m_h, rows * m_attention.queryWidth());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto firstRow = static_cast<std::int64_t>(j) * blockRows;
        const kernels::DraftContextView view = context(jobs[j].slot, static_cast<int>(index));
        const auto position = static_cast<std::int64_t>(jobs[j].tokens.size()) - 1;
        const std::span<float> q = rowsOf(m_q, m_attention.queryWidth(), blockRows, firstRow);
        const std::span<float> k = rowsOf(m_k, m_attention.keyWidth(), blockRows, firstRow);
        kernels::launchDraftNormRope(q, layer.queryNorm, m_shape.rmsNormEps, m_shape.ropeTheta,
                                     position, m_attention.heads, blockRows, m_stream);
        kernels::launchDraftNormRope(k, layer.keyNorm, m_shape.rmsNormEps, m_shape.ropeTheta,
                                     position, m_attention.kvHeads, blockRows, m_stream);
        kernels::launchDraftAttend(rowsOf(m_h, m_attention.queryWidth(), blockRows, firstRow), q, k,
                                   rowsOf(m_v, m_attention.keyWidth(), blockRows, firstRow), view,
                                   m_attention, blockRows, m_stream);
    }
    linear(m_o, m_h, layer.output, rows);
}

void Dflash2Drafter::runLayers(std::span<const DraftJob> jobs, std::int64_t blockRows)
{
    const std::int64_t rows = blockRows * static_cast<std::int64_t>(jobs.size());
    const std::int64_t hidden = m_shape.hiddenSize;
    if (m_trace != nullptr)
        m_trace->layers.clear();
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        const Layer &layer = m_layers[index];
        kernels::launchRmsNorm(sized(m_h, rows * hidden), m_x, layer.inputNorm, m_shape.rmsNormEps,
                               rows, m_stream);
        linear(m_dynamic, m_h, layer.attention.projection, rows);
        convolve(m_mixed, m_h, layer.attention, 0, blockRows, rows);
        attend(layer, index, jobs, blockRows);
        convolve(m_mixed, m_o, layer.attention, 1, blockRows, rows);
        addResidual(rows);

        kernels::launchRmsNorm(sized(m_h, rows * hidden), m_x, layer.attentionNorm,
                               m_shape.rmsNormEps, rows, m_stream);
        linear(m_dynamic, m_h, layer.mlp.projection, rows);
        convolve(m_mixed, m_h, layer.mlp, 0, blockRows, rows);
        linear(m_h, m_mixed, layer.gate, rows);
        linear(m_up, m_mixed, layer.up, rows);
        const std::span<float> gate = rowsOf(m_h, m_shape.intermediateSize, rows);
        kernels::launchSwiglu(gate, gate, rowsOf(m_up, m_shape.intermediateSize, rows),
                              std::numeric_limits<float>::infinity(), m_stream);
        linear(m_o, gate, layer.down, rows);
        convolve(m_mixed, m_o, layer.mlp, 1, blockRows, rows);
        addResidual(rows);
        if (m_trace != nullptr)
            m_trace->layers.emplace_back(m_x.end() - blockRows * hidden, m_x.end());
    }
}

void Dflash2Drafter::draft(std::span<DraftJob> jobs)
{
    std::int64_t blockRows = m_shape.blockRows; // as trained, whatever of it is used
    for (const DraftJob &job : jobs) {
        if (static_cast<std::int64_t>(job.tokens.size()) - 1
            != m_slots[static_cast<std::size_t>(job.slot)].end)
            throw std::logic_error("Dflash2Drafter::draft: the context is not the sequence's");
        blockRows = std::max<std::int64_t>(blockRows, job.count + 1);
    }
    const std::int64_t rows = blockRows * static_cast<std::int64_t>(jobs.size());
    const std::int64_t hidden = m_shape.hiddenSize;
    m_ids.assign(static_cast<std::size_t>(rows), m_shape.maskTokenId);
    for (std::size_t j = 0; j < jobs.size(); ++j)
        m_ids[j * static_cast<std::size_t>(blockRows)] = jobs[j].tokens.back();
    m_x.resize(static_cast<std::size_t>(rows * hidden));
    m_target.embed(m_x, m_ids);
    runLayers(jobs, blockRows);
    kernels::launchRmsNorm(m_x, m_x, m_norm, m_shape.rmsNormEps, rows, m_stream);
    if (m_trace != nullptr)
        m_trace->z.assign(m_x.end() - blockRows * hidden, m_x.end());
    for (std::size_t j = 0; j < jobs.size(); ++j)
        select(jobs[j], static_cast<std::int64_t>(j) * blockRows + 1);
}

// The drafts of one job from its rows of m_x; the pending token's own row predicts nothing.
void Dflash2Drafter::select(DraftJob &job, std::int64_t firstRow)
{
    const std::int64_t vocabulary = m_shape.vocabularySize;
    const std::int64_t count = job.count;
    const std::int64_t candidates = m_shape.selectorTopK;
    const std::span<float> z = rowsOf(m_x, m_shape.hiddenSize, count, firstRow);
    const std::span<float> logits = sized(m_logits, count * vocabulary);
    m_target.project(logits, z, count);
    m_candidates.resize(static_cast<std::size_t>(count * candidates));
    const std::span<float> candidateLogits = sized(m_candidateLogits, count * candidates);
    kernels::launchTopLogits(m_candidates, candidateLogits, logits, vocabulary, candidates, count,
                             m_stream);
    linear(m_hidden, z, m_hiddenProjection, count);
    const auto position = static_cast<std::uint64_t>(job.tokens.size());
    m_uniforms.resize(static_cast<std::size_t>(count));
    if (job.temperature > 0)
        for (std::size_t t = 0; t < m_uniforms.size(); ++t)
            m_uniforms[t] = uniformAt(job.seed, position + t);
    job.drafts.resize(static_cast<std::size_t>(count));
    const std::span<float> scores = sized(m_scores, count * candidates);
    kernels::launchDraftSelect(job.drafts, scores,
                               { .ids = m_candidates,
                                 .logits = candidateLogits,
                                 .hidden = m_hidden,
                                 .predecessors = *m_predecessors.matrix(),
                                 .successors = *m_successors.matrix(),
                                 .previous = job.tokens.back(),
                                 .temperature = job.temperature,
                                 .uniforms = m_uniforms },
                               m_stream);
    if (m_trace != nullptr) {
        m_trace->logits.assign(logits.begin(), logits.end());
        m_trace->candidates = m_candidates;
        m_trace->candidateLogits.assign(candidateLogits.begin(), candidateLogits.end());
        m_trace->scores.assign(scores.begin(), scores.end());
    }
}

} // namespace firesteel::engine
