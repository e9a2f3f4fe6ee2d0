// SPDX-License-Identifier: MIT
//
// What the quantizer needs of tensors it does not know: their values, and what tells one folder's
// from another's.
#pragma once

#include "engine/checkpoint/tensor_folder.h"

#include <cstdint>
#include <vector>

namespace firesteel::engine {

// A plain tensor's values widened to float32, in its order.
std::vector<float> widenedValues(const TensorEntry &entry);

// F32, F16 or BF16.
bool isPlainType(TensorType type);

// Of the names, types, shapes and every value's bytes of a folder.
std::uint64_t tensorDigest(const TensorFolder &folder);

} // namespace firesteel::engine
