// SPDX-License-Identifier: MIT
#include "engine/model/workspace.h"

#include "engine/model/hyper_connection.h"
#include "engine/model/indexer.h"
#include "engine/model/kda_layer.h"
#include "engine/model/mla_layer.h"
#include "kernels/hyper/hyper.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

// Calls visit(buffer, width) for every buffer of [rows, width] that depends on the shape alone.
template <typename Visitor>
void visitRows(Workspace &w, const ModelShape &shape, const Visitor &visit)
{
    const std::int64_t hidden = shape.hiddenSize;
    visit(w.streams, kernels::kHyperStreams * hidden);
    visit(w.post, kernels::kHyperStreams);
    visit(w.combination, kernels::kHyperStreams * kernels::kHyperStreams);
    visit(w.input, hidden);
    visit(w.output, hidden);

    const std::int64_t channels = KdaLayer::kernelShape(shape).channels();
    visit(w.kda.z, 3 * channels);
    visit(w.kda.u, 3 * channels);
    visit(w.kda.gLow, shape.kda.headDim);
    visit(w.kda.gateLow, shape.kda.headDim);
    visit(w.kda.g, channels);
    visit(w.kda.gate, channels);
    visit(w.kda.beta, shape.kda.heads);
    visit(w.kda.o, channels);

    const std::int64_t heads = shape.mla.heads;
    visit(w.mla.qLatent, shape.mla.qLoraRank);
    visit(w.mla.query, heads * shape.mla.qkHeadDim);
    visit(w.mla.latent, shape.mla.kvLoraRank);
    visit(w.mla.absorbed, heads * shape.mla.kvLoraRank);
    visit(w.mla.mixed, heads * shape.mla.kvLoraRank);
    visit(w.mla.value, heads * shape.mla.vHeadDim);

    const kernels::IndexShape index = Indexer::kernelShape(shape);
    visit(w.index.query, index.heads * index.headDim);
    visit(w.index.key, index.headDim);
    visit(w.index.gate, index.headDim);
    visit(w.index.weights, index.heads);
    visit(w.index.positions, index.maxSelected());
    visit(w.index.counts, 1);

    const std::int64_t sharedWidth
        = static_cast<std::int64_t>(shape.moe.sharedExperts) * shape.moe.expertWidth;
    const std::int64_t mlpWidth = std::max<std::int64_t>(shape.moe.denseWidth, sharedWidth);
    visit(w.mlp.gate, mlpWidth);
    visit(w.mlp.up, mlpWidth);
    visit(w.mlp.shared, hidden);
    visit(w.mlp.logits, shape.moe.experts);
    visit(w.mlp.experts, shape.moe.expertsPerToken);
    visit(w.mlp.weights, shape.moe.expertsPerToken);
}

std::size_t headBytes(const ModelShape &shape)
{
    return static_cast<std::size_t>(kernels::kMaxDecodeStepRows)
        * static_cast<std::size_t>(shape.vocabularySize) * sizeof(float);
}

// Scratch that the launchers of a model of this shape need, but for those of EXL3 matrices.
std::size_t scratchBytes(const ModelShape &shape, std::int64_t rows, kernels::Stream &stream)
{
    const kernels::KdaShape kda = KdaLayer::kernelShape(shape);
    const kernels::MlaShape mla = MlaLayer::kernelShape(shape);
    const std::int64_t selected = Indexer::kernelShape(shape).maxSelected();
    const std::int64_t decodeRows = std::min<std::int64_t>(rows, kernels::kMaxDecodeStepRows);
    return std::max(
        { kernels::hyperScratchBytes(hyperShape(shape), rows, stream),
          kernels::kdaScratchBytes(kda, rows, RowClass::Prefill, stream),
          kernels::kdaScratchBytes(kda, decodeRows, RowClass::Decode, stream),
          kernels::attendScratchBytes(mla, selected, rows, RowClass::Prefill, stream),
          kernels::attendScratchBytes(mla, selected, decodeRows, RowClass::Decode, stream) });
}

} // namespace

Workspace::Workspace(const ModelShape &shape, std::int64_t rows, kernels::Stream &stream)
    : maxRows(rows)
    , m_stream(stream)
{
    // Zeros, so that rows without meaning hold numbers.
    visitRows(*this, shape, [&]<typename T>(Buffer<T> &buffer, std::int64_t width) {
        buffer = Buffer<T>::zeros(static_cast<std::size_t>(rows * width), stream);
    });
    if (stream.backend() == kernels::Backend::Cuda)
        logits = Buffer<float>::zeros(headBytes(shape) / sizeof(float), stream);
    reserveScratch(scratchBytes(shape, rows, stream));
}

void Workspace::reserveScratch(std::size_t bytes)
{
    if (bytes > scratch.size()) {
        scratch = {}; // before more is taken
        scratch = Buffer<std::byte>::uninitialized(bytes, m_stream);
    }
}

void Workspace::reservePlainExperts(const ModelShape &shape)
{
    const auto assignments
        = static_cast<std::size_t>(maxRows) * static_cast<std::size_t>(shape.moe.expertsPerToken);
    const auto zeros = [&](int width) {
        return Buffer<float>::zeros(assignments * static_cast<std::size_t>(width), m_stream);
    };
    mlp.expertGate = zeros(shape.moe.expertWidth);
    if (m_stream.backend() == kernels::Backend::Cuda)
        return;
    mlp.expertUp = zeros(shape.moe.expertWidth);
    mlp.expertOutput = zeros(shape.hiddenSize);
}

void Workspace::reserveExl3(const ModelShape &shape, std::span<const kernels::Exl3Matrix> matrices,
                            std::span<const kernels::Exl3MoeShape> experts)
{
    const std::int64_t decodeRows = std::min<std::int64_t>(maxRows, kernels::kMaxDecodeStepRows);
    for (const kernels::Exl3Matrix &m : matrices) {
        reserveScratch(kernels::exl3LinearScratchBytes(m, maxRows, RowClass::Prefill, m_stream));
        reserveScratch(kernels::exl3LinearScratchBytes(m, decodeRows, RowClass::Decode, m_stream));
    }
    for (const kernels::Exl3MoeShape &moe : experts) {
        reserveScratch(kernels::exl3ExpertsScratchBytes(moe, maxRows, RowClass::Prefill, m_stream));
        reserveScratch(
            kernels::exl3ExpertsScratchBytes(moe, decodeRows, RowClass::Decode, m_stream));
    }
    exl3Output = Buffer<float>::zeros(
        static_cast<std::size_t>(maxRows * shape.kda.heads * shape.kda.headDim), m_stream);
}

void Workspace::reserveContext(const ModelShape &shape, std::int64_t contextTokens)
{
    reserveScratch(
        kernels::indexScratchBytes(Indexer::kernelShape(shape), maxRows, contextTokens, m_stream));
}

void Workspace::reserveTaps(const ModelShape &shape, std::size_t layers)
{
    if (m_stream.backend() == kernels::Backend::Cuda)
        taps = Buffer<float>::zeros(static_cast<std::size_t>(maxRows) * layers
                                        * static_cast<std::size_t>(shape.hiddenSize),
                                    m_stream);
}

std::uint64_t deviceWorkspaceBytes(const ModelShape &shape, std::int64_t contextTokens)
{
    constexpr std::int64_t kRows = kMaxDevicePrefillRows;
    kernels::Stream stream(1, kernels::openCudaQueue()); // of sizes alone: nothing is launched
    std::uint64_t bytes = headBytes(shape);
    std::int64_t widths = 0;
    Workspace none(stream);
    visitRows(none, shape, [&](const auto &, std::int64_t width) { widths += width; });
    bytes += static_cast<std::uint64_t>(widths * kRows) * sizeof(float);

    std::size_t scratch = std::max(
        scratchBytes(shape, kRows, stream),
        kernels::indexScratchBytes(Indexer::kernelShape(shape), kRows, contextTokens, stream));
    const std::int64_t channels = KdaLayer::kernelShape(shape).channels();
    const std::int64_t hidden = shape.hiddenSize;
    for (const auto &[in, out] : { std::pair { hidden, 3 * channels },
                                   { channels, hidden },
                                   { hidden, std::int64_t { shape.moe.denseWidth } },
                                   { std::int64_t { shape.moe.denseWidth }, hidden },
                                   { hidden, std::int64_t { shape.vocabularySize } } }) {
        const kernels::Exl3Matrix m { .trellis = nullptr,
                                      .suh = nullptr,
                                      .svh = nullptr,
                                      .bias = nullptr,
                                      .in = static_cast<std::int32_t>(in),
                                      .out = static_cast<std::int32_t>(out),
                                      .rate = 4,
                                      .codebook = kernels::Exl3Codebook::Mul1 };
        scratch = std::max(scratch,
                           kernels::exl3LinearScratchBytes(m, kRows, RowClass::Prefill, stream));
    }
    const kernels::Exl3MoeShape moe { .hidden = hidden,
                                      .width = shape.moe.expertWidth,
                                      .experts = shape.moe.experts,
                                      .expertsPerToken = shape.moe.expertsPerToken,
                                      .swigluLimit = shape.moe.swigluLimit,
                                      .gateRate = 2,
                                      .upRate = 2,
                                      .downRate = 2,
                                      .codebook = kernels::Exl3Codebook::Mul1 };
    scratch = std::max(scratch,
                       kernels::exl3ExpertsScratchBytes(moe, kRows, RowClass::Prefill, stream));
    return bytes + scratch;
}

std::uint64_t Workspace::bytes(const ModelShape &shape) const
{
    std::uint64_t sum = 0;
    // The visitor only looks.
    visitRows(const_cast<Workspace &>(*this),
              shape, // NOLINT(cppcoreguidelines-pro-type-const-cast)
              [&](const auto &buffer, std::int64_t) { sum += buffer.bytes(); });
    for (const auto *buffer :
         { &mlp.expertGate, &mlp.expertUp, &mlp.expertOutput, &logits, &taps, &exl3Output })
        sum += buffer->bytes();
    return sum + scratch.bytes();
}

} // namespace firesteel::engine
