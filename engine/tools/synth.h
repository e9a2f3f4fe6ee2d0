// SPDX-License-Identifier: MIT
//
// firesteel-cli synth: a checkpoint with exactly the tensors, shapes, types and rates of the
// published EXL3 pack, and random weights. For machines that are to run or measure the pack before
// it is there.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/model_shape.h"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace firesteel::engine {

struct SynthOptions
{
    ModelShape shape;
    std::filesystem::path out; // a folder that is absent or empty
    bool headersOnly = false; // files of full length that read as zeros but for the markers
    std::uint64_t seed = 1; // the same seed gives the same bytes
    int threads = 0; // 0: one per core
};

struct SynthSummary
{
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0; // of tensor data
    int files = 0; // .safetensors
};

// Called often with the bytes done and those to do; false cancels.
using SynthProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// Tokenizer: byte-level, of the model's full size; what it says is as random as the weights.
// Whatever was written is removed again on an error. Errors: BadRequest (the folder is not empty),
// Io (also: the disk is too small), Cancelled.
Result<SynthSummary> writeSyntheticPack(const SynthOptions &options, const SynthProgress &progress);

} // namespace firesteel::engine
