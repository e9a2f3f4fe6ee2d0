// SPDX-License-Identifier: MIT
//
// Scratch of one forward call, sized once for the largest number of rows. Layers overwrite it
// freely: nothing in it outlives a call.
#pragma once

#include "engine/checkpoint/model_shape.h"
#include "engine/model/linear_observer.h"
#include "engine/state/sequence_state.h"
#include "kernels/common/row_class.h"
#include "kernels/exl3/exl3.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

using kernels::RowClass;

// Consecutive rows of a forward call that belong to one sequence.
struct RowGroup
{
    SequenceState *sequence = nullptr;
    std::int64_t firstRow = 0;
    std::int64_t rows = 0;
    std::int64_t firstPosition = 0;
};

struct Workspace
{
    Workspace(const ModelShape &shape, std::int64_t maxRows);

    std::int64_t maxRows;
    std::vector<float> streams; // [rows, 4, hidden]
    std::vector<float> post; // [rows, 4]
    std::vector<float> combination; // [rows, 4, 4]
    std::vector<float> input; // [rows, hidden] of a sublayer, before and after its norm
    std::vector<float> output; // [rows, hidden] of a sublayer

    struct
    {
        std::vector<float> z; // [rows, 3 * channels]
        std::vector<float> u; // [rows, 3 * channels]
        std::vector<float> low; // [rows, headDim]
        std::vector<float> g; // [rows, channels]
        std::vector<float> gate; // [rows, channels]
        std::vector<float> beta; // [rows, heads]
        std::vector<float> o; // [rows, channels]
    } kda;

    struct
    {
        std::vector<float> qLatent; // [rows, qLoraRank]
        std::vector<float> query; // [rows, heads, qkHeadDim]
        std::vector<float> latent; // [rows, kvLoraRank]
        std::vector<float> absorbed; // [rows, heads, kvLoraRank]
        std::vector<float> mixed; // [rows, heads, kvLoraRank]
        std::vector<float> value; // [rows, heads, vHeadDim]
    } mla;

    struct
    {
        std::vector<float> query; // [rows, heads, headDim]
        std::vector<float> key; // [rows, headDim]
        std::vector<float> gate; // [rows, headDim]
        std::vector<float> weights; // [rows, heads]
        std::vector<float> scores; // [a slice of rows, pools]: grows with the longest sequence seen
        std::vector<std::int32_t>
            positions; // [rows, maxSelected], kept for layers that share a selection
        std::vector<std::int32_t> counts; // [rows]
    } index;

    struct
    {
        std::vector<float> gate; // [rows, widest dense or shared MLP]
        std::vector<float> up; // like gate
        std::vector<float> shared; // [rows, hidden]
        std::vector<float> logits; // [rows, experts]
        std::vector<std::int32_t> experts; // [rows, expertsPerToken]
        std::vector<float> weights; // [rows, expertsPerToken]
        std::vector<float> expertGate; // [rows * expertsPerToken, expertWidth]
        std::vector<float> expertUp; // like expertGate
        std::vector<float> expertOutput; // [rows * expertsPerToken, hidden]
    } mlp;

    // Of the launchers that multiply with EXL3 matrices as they are stored; empty where all are
    // decoded.
    struct
    {
        std::vector<std::byte> scratch;
        std::vector<float> output; // [rows, KDA channels]: of q, k and v apart
    } exl3;

    // Makes room for launches with these matrices, which stay EXL3.
    void reserveExl3(const ModelShape &shape, std::span<const kernels::Exl3Matrix> matrices,
                     std::span<const kernels::Exl3MoeShape> experts, const kernels::Stream &stream);

    LinearObserver linearObserver; // empty but while calibrating

    std::uint64_t bytes() const;
};

// The part of a buffer that belongs to `rows` rows of `width` values from row `first` on.
template <typename T>
std::span<T> rowsOf(std::vector<T> &buffer, std::int64_t width, std::int64_t rows,
                    std::int64_t first = 0)
{
    return std::span(buffer).subspan(static_cast<std::size_t>(first * width),
                                     static_cast<std::size_t>(rows * width));
}

} // namespace firesteel::engine
