// SPDX-License-Identifier: MIT
//
// What a load needs of memory and whether it may begin: the one computation behind both
// Engine::estimate, which only tells, and LoadedModel::load, which acts on it.
#pragma once

#include "engine/api/engine.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/serve/processor.h"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace firesteel::engine {

struct LoadBudget
{
    LoadEstimate estimate;
    std::uint64_t decodeBytes = 0; // that decoding EXL3 into float32 may take
};

// What of a checkpoint and its drafter decides. Kept with a loaded model: the headers of a large
// one take a second to read, too long for figures that follow a slider.
struct CheckpointSize
{
    std::filesystem::path directory;
    std::filesystem::path drafterDirectory; // empty: none
    ModelShape shape;
    std::uint64_t drafterBytes = 0; // but for its context
    std::uint64_t drafterContextBytes = 0; // for each sequence
    std::uint64_t storedBytes = 0; // all tensors
    std::uint64_t decodedBytes = 0; // what decoding its EXL3 modules adds
};
// Errors: those of Dflash2Drafter::neededBytes.
Result<CheckpointSize> checkpointSize(const Checkpoint &checkpoint,
                                      const std::filesystem::path &drafterDirectory);

// processor.availableBytes: what it can give while no model of ours is loaded.
LoadBudget loadBudget(const CheckpointSize &size, const LoadOptions &options,
                      const Processor &processor);

// The same with what the processor has now, and `heldBytes` that a loaded model would give back
// first. `known`: of the loaded model, used where it is of these folders. Errors: those of
// Checkpoint::open and checkpointSize; Io without /proc/meminfo.
Result<LoadEstimate> estimateLoad(const LoadOptions &options, std::uint64_t heldBytes,
                                  const CheckpointSize *known = nullptr);

// Errors: BadRequest for a number of threads or sequences that makes no sense.
Result<void> checkThreads(int threads);
Result<void> checkSequences(int sequences);

// The context to allocate: `wanted`, or with 0 the longest up to `longest` whose sequence fits
// beside the weights into `available` bytes less the reserve. Errors: BadRequest, OutOfMemory.
struct ContextBudget
{
    std::uint64_t availableBytes = 0;
    std::uint64_t reserveBytes = 0;
    std::uint64_t weightBytes = 0;
    int wantedTokens = 0;
    int longestTokens = 0;
};
Result<int> chooseContext(const ContextBudget &budget,
                          const std::function<std::uint64_t(int contextTokens)> &sequenceBytes);

} // namespace firesteel::engine
