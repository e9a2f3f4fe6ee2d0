// SPDX-License-Identifier: MIT
//
// What the EXL3 launchers promise, checked on any stream: against the reference vectors, against
// double precision at sizes the vectors do not have, and rows in company against rows alone. Each
// function holds doctest assertions.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/stream.h"

namespace firesteel::test {

void checkExl3Reconstruct(kernels::Stream &stream);
void checkExl3Rotate(kernels::Stream &stream);
void checkExl3Linear(kernels::Stream &stream, kernels::RowClass rowClass);
void checkExl3Experts(kernels::Stream &stream, kernels::RowClass rowClass);

} // namespace firesteel::test
