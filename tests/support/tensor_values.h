// SPDX-License-Identifier: MIT
//
// Random weights that are the same on every machine, and their rounding to the element types of a
// checkpoint.
#pragma once

#include "engine/checkpoint/safe_tensors.h"
#include "tests/support/random_values.h"

#include <string>

namespace firesteel::test {

float normal(RandomValues &random); // mean 0, variance 1, within +-3.5; exact arithmetic

// Appends `value` in the given type (BF16, F16 or F32), rounded to nearest even. Throws
// std::logic_error for others.
void appendElement(std::string &bytes, engine::TensorType type, float value);

} // namespace firesteel::test
