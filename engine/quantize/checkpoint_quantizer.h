// SPDX-License-Identifier: MIT
//
// A model folder to an EXL3 model folder (`firesteel-cli quantize`): which matrices at which rate,
// their Hessians from a text run through the model itself, the matrices one after the other with a
// journal, and the new folder's files.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "kernels/common/stream.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace firesteel::engine {

struct QuantizeOptions
{
    std::filesystem::path source = {}; // F32, F16 or BF16
    std::filesystem::path target = {}; // made; one that a killed run left is gone on with
    std::filesystem::path rates = {}; // rate_table.h
    std::filesystem::path calibration = {}; // token_windows.h
    std::filesystem::path hessians = {}; // read if there, else written; empty: kept while needed
    kernels::Exl3Codebook codebook = kernels::Exl3Codebook::Mul1;
    int windowTokens = 2048; // longest run of calibration tokens
    int threads = 0; // of the forward pass that calibrates
};

struct QuantizeProgress
{
    enum class Stage { Calibrating, Quantizing, Writing };
    Stage stage = Stage::Calibrating;
    double fraction = 0; // of the stage
    double secondsLeft = 0; // of the stage; 0 while unknown
    std::string module; // Quantizing: what was finished last
    double proxyError = 0; // of it
};

struct QuantizeReport
{
    std::size_t quantized = 0; // matrices
    std::size_t resumed = 0; // of these, finished by an earlier run
    std::uint64_t quantizedWeights = 0;
    double bitsPerWeight = 0; // of the quantized weights, scales not counted
    std::uint64_t sourceBytes = 0; // of tensors
    std::uint64_t targetBytes = 0;
    double meanProxyError = 0; // by weights
    std::vector<std::string> notes; // what a user should know, one line each
};

// Matrices: for a glm5_next folder its linear layers, for any other (a drafter) every tensor of two
// dimensions; of these what --rates gives a rate and whose sizes are multiples of 128. Inputs that
// the forward pass does not see (the vision tower, a drafter, an expert that no token chose) count
// as uncorrelated and of one size. Errors: what reading the inputs gives; BadRequest (target and
// inputs do not belong together, a finished target); Io; Cancelled.
Result<QuantizeReport>
quantizeCheckpoint(const QuantizeOptions &options, kernels::Stream &stream,
                   const std::function<void(const QuantizeProgress &)> &progress,
                   const CancelToken &cancel);

} // namespace firesteel::engine
