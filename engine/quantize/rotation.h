// SPDX-License-Identifier: MIT
//
// The 128-wide Hadamard rotation of EXL3 on whole matrices, for the quantizer; orthogonal and its
// own inverse.
#pragma once

#include <cstdint>
#include <span>

namespace firesteel::engine {

// m [rows, columns] row-major <- m H: every row is rotated. columns is a multiple of 128.
void rotateRows(std::span<float> m);
void rotateRows(std::span<double> m);

// m <- H m: every column is rotated. The rows are a multiple of 128.
void rotateColumns(std::span<float> m, std::int64_t columns);
void rotateColumns(std::span<double> m, std::int64_t columns);

} // namespace firesteel::engine
