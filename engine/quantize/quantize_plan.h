// SPDX-License-Identifier: MIT
//
// What a quantizer run will do with each tensor of a folder.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/tensor_folder.h"
#include "engine/quantize/rate_table.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace firesteel::engine {

struct PlannedMatrix
{
    std::string module;
    const TensorEntry *entry = nullptr; // [out, in]
    std::int32_t in = 0;
    std::int32_t out = 0;
    int rate = 0; // 1..8

    std::uint64_t weights() const
    {
        return static_cast<std::uint64_t>(in) * static_cast<std::uint64_t>(out);
    }
};

struct PlannedCopy
{
    std::string name;
    const TensorEntry *entry = nullptr;
};

struct QuantizePlan
{
    std::vector<PlannedMatrix> matrices;
    std::vector<PlannedCopy> copies;
    std::vector<std::string> notes; // for the user
    std::uint64_t rateDigest = 0; // of every matrix's rate
};

// linears: the modules that may be quantized; without it every tensor of two dimensions. Errors:
// BadRequest (the folder is EXL3 already; no matrix gets a rate).
Result<QuantizePlan> planQuantization(const TensorFolder &folder, const RateTable &rates,
                                      const std::optional<std::set<std::string>> &linears);

} // namespace firesteel::engine
