// SPDX-License-Identifier: MIT
//
// The two classes of a step's arithmetic (docs/architecture.md, Exactness). Inside one class a
// row's result never depends on the rows beside it; between the classes rounding may differ.
#pragma once

namespace firesteel::kernels {

enum class RowClass { Prefill, Decode };

// Rows of a decode step: 8 sequences of up to 9 rows.
inline constexpr int kMaxDecodeStepRows = 72;

} // namespace firesteel::kernels
