// SPDX-License-Identifier: MIT
//
// Recurrent and convolution state of one KDA layer of one sequence.
#pragma once

#include <cstdint>
#include <vector>

namespace firesteel::engine {

struct KdaState
{
    std::vector<float> state; // [heads, d key, d value]
    std::vector<float> window; // [3, 3 * channels], the last pre-convolution rows, oldest first

    // Rows of the last decode step that are not in `state` and `window` yet; after a commit, the
    // accepted ones.
    std::int64_t recordedRows = 0;
    std::vector<float> recordedInput; // [recordedRows, 3 * channels] before the convolution
    std::vector<float> recordedU; // [recordedRows, 3 * channels] normalised q|k|v
    std::vector<float> recordedG; // [recordedRows, channels]
    std::vector<float> recordedBeta; // [recordedRows, heads]

    // Keeps the first `rows` records.
    void keepRecords(std::int64_t rows);
    std::uint64_t bytes() const;
};

} // namespace firesteel::engine
