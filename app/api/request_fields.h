// SPDX-License-Identifier: MIT
//
// Fields that several dialects share: sampling, limits, stop strings, thinking.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"

#include <optional>
#include <string_view>

namespace firesteel::app {

// temperature, top_p, top_k, min_p, penalties, logit_bias, seed over what `request` holds already,
// the model's defaults.
void readSampling(Fields &fields, engine::GenerationRequest &request);

// A positive number of tokens; -1, a habit of local servers: no limit.
std::optional<int> readTokenLimit(Fields &fields, std::string_view name);

// "stop": a string or several.
void readStop(Fields &fields, std::string_view name, engine::GenerationRequest &request);

// "none", "minimal", "low", "medium", "high", "xhigh", "max".
void readEffort(Fields &fields, std::string_view name, engine::PromptOptions &options);

// How the model is asked to think, and for how long at most. Precedence: chat_template_kwargs and
// template_vars, then the fields themselves, then the object "reasoning".
void readThinking(Fields &fields, ApiRequest &request);

// What would change the answer and is not implemented, under the names that clients of other
// servers use.
void refuseUnsupported(Fields &fields);

} // namespace firesteel::app
