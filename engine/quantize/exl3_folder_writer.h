// SPDX-License-Identifier: MIT
//
// The files of a quantized model folder, out of a finished journal and the source.
#pragma once

#include "engine/api/error.h"
#include "engine/quantize/journal.h"
#include "engine/quantize/quantize_plan.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace firesteel::engine {

// "3inst", "mcg" or "mul1", as config.json names them.
std::string_view exl3CodebookName(kernels::Exl3Codebook codebook);

// Weights in shards of at most 4 GiB, with an index if there are several; the source's tokenizer
// and other small files; config.json last. Returns the bytes of all tensors. Errors: Io.
Result<std::uint64_t> writeExl3Folder(const std::filesystem::path &source,
                                      const std::filesystem::path &target, const QuantizePlan &plan,
                                      const Journal &journal, kernels::Exl3Codebook codebook,
                                      const std::string &config);

} // namespace firesteel::engine
