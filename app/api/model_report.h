// SPDX-License-Identifier: MIT
//
// The loaded model as GET /v1/models reports it, and answers that need no generation.
#pragma once

#include "app/api/json_document.h"
#include "engine/api/engine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace firesteel::app {

// What clients call it: its name without blanks.
std::string modelIdOf(const engine::ModelInfo &model);

// Of this build, the model and what it runs on: "firesteel-0.1.0/Glimmer/CPU".
std::string fingerprintOf(const engine::ModelInfo &model);

Json modelReport(const engine::ModelInfo &model, std::int64_t created);
Json modelList(const std::optional<engine::ModelInfo> &model, std::int64_t created);

// vLLM's /tokenize: {"prompt"} or {"messages", "tools"}; llama.cpp's {"content"} too.
ApiResult<Json> tokenizeAnswer(const engine::Engine &engine, const engine::ModelInfo &model,
                               const Json &body);
// {"tokens"} -> {"prompt"}
ApiResult<Json> detokenizeAnswer(const engine::Engine &engine, const Json &body);

} // namespace firesteel::app
