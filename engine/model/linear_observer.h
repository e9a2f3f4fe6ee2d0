// SPDX-License-Identifier: MIT
//
// Calibration looks at what linear layers multiply with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace firesteel::engine {

// The input of the layer `module` ("….q_proj"), x [rows, in]: of an expert's down projection the
// rows that chose the expert, of every other layer all rows of a call. Only called with rows.
using LinearObserver
    = std::function<void(std::string_view module, std::span<const float> x, std::int64_t rows)>;

} // namespace firesteel::engine
