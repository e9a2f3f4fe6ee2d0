// SPDX-License-Identifier: MIT
//
// Scratch of one forward call where the kernels run, sized once for the largest number of rows.
// Layers overwrite it freely: nothing in it outlives a call.
#pragma once

#include "engine/checkpoint/model_shape.h"
#include "engine/model/linear_observer.h"
#include "kernels/common/buffer.h"
#include "kernels/common/row_class.h"
#include "kernels/exl3/exl3.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

using kernels::RowClass;

// Rows of a forward call, at most: of a prefill pass, and of one on the device, where more rows at
// a time mean fewer reads of the weights.
inline constexpr std::int64_t kMaxPrefillRows = 512;
inline constexpr std::int64_t kMaxDevicePrefillRows = 2048;

struct Workspace
{
    Workspace(const ModelShape &shape, std::int64_t maxRows, kernels::Stream &stream);
    explicit Workspace(kernels::Stream &stream) // without rows, which takes no memory
        : maxRows(0)
        , m_stream(stream)
    {
    }

    template <typename T> using Buffer = kernels::Buffer<T>;

    std::int64_t maxRows;
    Buffer<float> streams; // [rows, 4, hidden]
    Buffer<float> post; // [rows, 4]
    Buffer<float> combination; // [rows, 4, 4]
    Buffer<float> input; // [rows, hidden] of a sublayer
    Buffer<float> output; // [rows, hidden] of a sublayer

    struct
    {
        Buffer<float> z; // [rows, 3 * channels]
        Buffer<float> u; // [rows, 3 * channels]
        Buffer<float> gLow; // [rows, headDim]: of the decays
        Buffer<float> gateLow; // [rows, headDim]: of the output gate
        Buffer<float> g; // [rows, channels]
        Buffer<float> gate; // [rows, channels]
        Buffer<float> beta; // [rows, heads]
        Buffer<float> o; // [rows, channels]
    } kda;

    struct
    {
        Buffer<float> qLatent; // [rows, qLoraRank]
        Buffer<float> query; // [rows, heads, qkHeadDim]
        Buffer<float> latent; // [rows, kvLoraRank]
        Buffer<float> absorbed; // [rows, heads, kvLoraRank]
        Buffer<float> mixed; // [rows, heads, kvLoraRank]
        Buffer<float> value; // [rows, heads, vHeadDim]
    } mla;

    struct
    {
        Buffer<float> query; // [rows, heads, headDim]
        Buffer<float> key; // [rows, headDim]
        Buffer<float> gate; // [rows, headDim]
        Buffer<float> weights; // [rows, heads]
        Buffer<std::int32_t>
            positions; // [rows, maxSelected], kept for layers that share a selection
        Buffer<std::int32_t> counts; // [rows]
    } index;

    struct
    {
        Buffer<float> gate; // [rows, widest dense or shared MLP]
        Buffer<float> up; // like gate
        Buffer<float> shared; // [rows, hidden]
        Buffer<float> logits; // [rows, experts]
        Buffer<std::int32_t> experts; // [rows, expertsPerToken]
        Buffer<float> weights; // [rows, expertsPerToken]
        // Of experts with plain weights; empty where all are EXL3.
        Buffer<float> expertGate; // [rows * expertsPerToken, expertWidth]
        Buffer<float> expertUp; // like expertGate
        Buffer<float> expertOutput; // [rows * expertsPerToken, hidden]
    } mlp;

    // On the device, where what a caller gives is host memory.
    Buffer<float> logits; // [kMaxDecodeStepRows, vocabulary]
    Buffer<float> taps; // [rows, tap layers, hidden]

    Buffer<std::byte> scratch; // of any launcher that needs some
    Buffer<float> exl3Output; // [rows, KDA channels]: of q, k and v apart, kept as EXL3

    LinearObserver linearObserver; // empty but while calibrating
    Buffer<std::int32_t> routing; // benchmarks: experts in place of the router's choice

    // Make room for what is known later than the shape. Scratch only grows.
    void reserveScratch(std::size_t bytes);
    void reservePlainExperts(const ModelShape &shape);
    // For launches with these matrices, which stay EXL3.
    void reserveExl3(const ModelShape &shape, std::span<const kernels::Exl3Matrix> matrices,
                     std::span<const kernels::Exl3MoeShape> experts);
    // For sequences of this length.
    void reserveContext(const ModelShape &shape, std::int64_t contextTokens);
    void reserveTaps(const ModelShape &shape, std::size_t layers);

    std::uint64_t bytes(const ModelShape &shape) const;

private:
    kernels::Stream &m_stream;
};

// What the workspace of a model with this context will take on the device, before anything is
// allocated, with EXL3 matrices of the pack's rates. Throws kernels::DeviceError.
std::uint64_t deviceWorkspaceBytes(const ModelShape &shape, std::int64_t contextTokens);

// The part of a buffer that belongs to `rows` rows of `width` values from row `first` on.
template <typename T>
std::span<T> rowsOf(std::span<T> buffer, std::int64_t width, std::int64_t rows,
                    std::int64_t first = 0)
{
    return buffer.subspan(static_cast<std::size_t>(first * width),
                          static_cast<std::size_t>(rows * width));
}
template <typename T>
std::span<T> rowsOf(const kernels::Buffer<T> &buffer, std::int64_t width, std::int64_t rows,
                    std::int64_t first = 0)
{
    return rowsOf(buffer.span(), width, rows, first);
}
template <typename T>
std::span<T> rowsOf(std::vector<T> &buffer, std::int64_t width, std::int64_t rows,
                    std::int64_t first = 0)
{
    return rowsOf(std::span(buffer), width, rows, first);
}

} // namespace firesteel::engine
