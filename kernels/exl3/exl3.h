// SPDX-License-Identifier: MIT
//
// EXL3: trellis-coded weight matrices (docs/model.md, section EXL3). A matrix W [in, out] is stored
// as 16x16 tiles of a rotated matrix C: W = diag(suh) H C H diag(svh), with H the block-diagonal
// Hadamard matrix of 128x128 blocks over sqrt(128). A tile is a tail-biting trellis of 256 states,
// `rate` new bits each; a codebook maps a 16-bit state to an F16 value.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/stream.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::kernels {

enum class Exl3Codebook : std::uint8_t { ThreeInst, Mcg, Mul1 };

inline constexpr int kExl3Tile = 16; // rows and columns of a tile
inline constexpr int kExl3Block = 128; // rows of a Hadamard block; in and out are multiples of it
inline constexpr int kExl3MaxRate = 8;

// One matrix; the pointers lie where the stream runs, at multiples of 16 bytes. Plain data, so that
// tables of it can be copied to a device.
struct Exl3Matrix
{
    const std::uint16_t *trellis = nullptr; // [in / 16, out / 16, 16 * rate]
    const std::uint16_t *suh = nullptr; // F16 [in]: input signs and scales
    const std::uint16_t *svh = nullptr; // F16 [out]: output signs and scales
    const std::uint16_t *bias = nullptr; // F16 [out], or none
    std::int32_t in = 0;
    std::int32_t out = 0;
    std::uint8_t rate = 0; // bits per weight, 1..8
    Exl3Codebook codebook = Exl3Codebook::Mul1;
};

// Bytes of the trellis, and with the scales.
constexpr std::size_t exl3TrellisBytes(const Exl3Matrix &m)
{
    return static_cast<std::size_t>(m.in) * static_cast<std::size_t>(m.out) * m.rate / 8;
}
constexpr std::size_t exl3Bytes(const Exl3Matrix &m)
{
    return exl3TrellisBytes(m)
        + 2 * (static_cast<std::size_t>(m.in) + static_cast<std::size_t>(m.out));
}

// inner = C as F16 bits, [in, out] row-major; bit-exact on every backend.
void launchExl3Reconstruct(std::span<std::uint16_t> inner, const Exl3Matrix &m, Stream &stream);

// rotated[t] = F16( (x[t] * suh) H ), [rows, in]: what the products below multiply C with. x is
// float32 [rows, in]; the product and the butterfly are float32, rounded once.
void launchExl3Rotate(std::span<std::uint16_t> rotated, std::span<const float> x,
                      const Exl3Matrix &m, std::int64_t rows, Stream &stream);

// Scratch of the launchers below, where the stream runs. Contents are of no use between calls.
struct Exl3Scratch
{
    std::span<std::byte> bytes;
};

// Bytes that launchExl3Linear needs at most on this stream for `rows` rows of this matrix.
std::size_t exl3LinearScratchBytes(const Exl3Matrix &m, std::int64_t rows, RowClass rowClass,
                                   const Stream &stream);

// y[t] = x[t] W + bias, float32.  y [rows, out], x [rows, in]. Decode: rows <= kMaxDecodeStepRows.
// In each class a row's result depends on that row alone, bit for bit, at every row count.
void launchExl3Linear(std::span<float> y, std::span<const float> x, const Exl3Matrix &m,
                      std::int64_t rows, RowClass rowClass, const Exl3Scratch &scratch,
                      Stream &stream);

struct Exl3Expert
{
    Exl3Matrix gate; // hidden -> width
    Exl3Matrix up; // hidden -> width
    Exl3Matrix down; // width -> hidden
};

// What all experts of a layer share. Rates may differ between gate, up and down.
struct Exl3MoeShape
{
    std::int64_t hidden = 0;
    std::int64_t width = 0;
    std::int64_t experts = 0;
    std::int64_t expertsPerToken = 0;
    float swigluLimit = 0;
    std::uint8_t gateRate = 0;
    std::uint8_t upRate = 0;
    std::uint8_t downRate = 0;
    Exl3Codebook codebook = Exl3Codebook::Mul1;
};

std::size_t exl3ExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows, RowClass rowClass,
                                    const Stream &stream);

// y[t] = sum over the chosen experts, in their order in `experts`, of
// weight * down( silu(min(gate x, limit)) * clamp(up x, -limit, limit) ).
// y, x [rows, hidden] float32; experts, weights [rows, expertsPerToken]; table [shape.experts], all
// where the stream runs (the CUDA backend reads the table on the device). Each distinct expert's
// weights are read and decoded once per call (decode) or once per 64 of its rows or more (prefill);
// any number of rows may choose one expert. Row independence as launchExl3Linear.
void launchExl3Experts(std::span<float> y, std::span<const float> x,
                       std::span<const std::int32_t> experts, std::span<const float> weights,
                       std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                       std::int64_t rows, RowClass rowClass, const Exl3Scratch &scratch,
                       Stream &stream);

// Host only. w = W transposed, [out, in] row-major float32 in the original basis: what a plain
// linear layer multiplies with. Decoded once at load where memory allows.
void dequantizeExl3(std::span<float> w, const Exl3Matrix &m, ThreadPool &pool);

} // namespace firesteel::kernels
