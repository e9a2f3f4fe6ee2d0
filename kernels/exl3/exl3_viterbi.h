// SPDX-License-Identifier: MIT
//
// The search at the heart of the EXL3 quantizer: for a tile of 256 values the tail-biting path
// through the trellis whose decoded values are closest (docs/quantization.md, section Search).
#pragma once

#include "kernels/common/stream.h"
#include "kernels/exl3/exl3.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace firesteel::kernels {

// Bytes of scratch, where the stream runs, with which launchExl3Viterbi runs at full speed.
std::size_t exl3ViterbiScratchBytes(std::int64_t tiles, int rate, Stream &stream);

// states[n, t]: the 16-bit trellis states of tile n, each holding the low 16 - rate bits of the one
// before it, the first those of the last. tiles, states [n, 256] in step order; values in the
// codebook's scale (about its standard deviation). Two passes: the first, begun in the middle of
// the tile and open at both ends, chooses the state at the tile's border; the second closes the
// ring there. Costs are float32 with the choice in their low `rate` bits; every backend computes
// the same bits, so states are equal. Rate 1..8.
void launchExl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                       Exl3Codebook codebook, const Exl3Scratch &scratch, Stream &stream);

} // namespace firesteel::kernels
