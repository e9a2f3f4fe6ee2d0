// SPDX-License-Identifier: MIT
//
// What exl3_viterbi.cpp chooses between. Same contracts as exl3_viterbi.h.
#pragma once

#include "kernels/exl3/exl3_viterbi.h"

namespace firesteel::kernels::reference {

void exl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                 Exl3Codebook codebook, ThreadPool &pool);

} // namespace firesteel::kernels::reference

namespace firesteel::kernels::cuda {

std::size_t exl3ViterbiScratchBytes(std::int64_t tiles, int rate, CudaQueue &queue);
void exl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                 Exl3Codebook codebook, const Exl3Scratch &scratch, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
