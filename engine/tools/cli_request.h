// SPDX-License-Identifier: MIT
//
// From the command line to engine requests: loading, tools, messages, sampling. Shared by generate
// and chat.
#pragma once

#include "engine/api/engine.h"
#include "engine/tools/cli_options.h"
#include "engine/tools/cli_session.h"

#include <cstdint>
#include <span>
#include <vector>

namespace firesteel::engine {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// Writes the one line and gives the exit status that belongs to the error.
int reportError(const Error &error);

// Loads with a progress line on a terminal. Errors: the engine's.
Result<ModelInfo> loadModel(CliSession &session, const CliOptions &options);

// The functions of --tools; none without it. Errors: NotFound, Io, BadRequest.
Result<std::vector<Tool>> readTools(const std::filesystem::path &file);

// The seed of --seed, or a random one.
std::uint64_t chosenSeed(const CliOptions &options);

// Errors: the engine's.
Result<GenerationRequest> makeRequest(const Engine &engine, const CliOptions &options,
                                      const ModelInfo &info, std::span<const Message> messages,
                                      std::span<const Tool> tools, std::uint64_t seed);

} // namespace firesteel::engine
