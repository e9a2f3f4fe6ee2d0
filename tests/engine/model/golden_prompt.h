// SPDX-License-Identifier: MIT
//
// A model's logits and greedy continuation of one prompt against those of float32 transformers.
#pragma once

#include "tests/support/loaded_model.h"

#include <filesystem>

namespace firesteel::test {

// file: prompt_NAME.safetensors with input_ids, logits_last8_fp32, top32_values_fp32 and
// top32_ids_fp32 of every position, greedy_fp32. Tolerance: logitTolerance.
void checkPrompt(LoadedModel &m, const std::filesystem::path &file);

} // namespace firesteel::test
