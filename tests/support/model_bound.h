// SPDX-License-Identifier: MIT
//
// How far two float32 evaluations of a glm5_next model may differ (used against the reference
// goldens and between chunkings).
#pragma once

#include "engine/checkpoint/checkpoint.h"

namespace firesteel::test {

// Error allowed in the residual streams after `layers` layers, relative to their root mean square.
// Each site adds the rounding of its own sums (chainTolerance). Earlier errors pass on unamplified:
// the combination matrix of the residual path is doubly stochastic up to 1e-6, and sublayers see a
// normalised input.
double streamTolerance(const engine::ModelShape &shape, int layers);

// Absolute error allowed in a logit: an error vector with independent entries of that size, times a
// row of the head, has the size of one entry times the row's norm; the entries of the head's input
// have a root mean square of at most max |norm weight|.
double logitTolerance(const engine::Checkpoint &checkpoint);

// The same for the device against float32: there EXL3 matrices round their rotated inputs to F16,
// and latent attention its cache and its probabilities to BF16.
double deviceLogitTolerance(const engine::Checkpoint &checkpoint);

} // namespace firesteel::test
