// SPDX-License-Identifier: MIT
//
// POST /v1/chat/completions: the request into engine types. docs/api.md has the table of fields.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"

namespace firesteel::app {

// `model` gives the defaults of sampling. Errors: 400, naming the field.
ApiResult<ApiRequest> parseChatCompletion(const Json &body, const engine::ModelInfo &model);

// "messages" of that body; also for /tokenize and for counting.
void readMessages(Fields &body, std::vector<engine::Message> &messages);
// "tools", "tool_choice" and "parallel_tool_calls".
void readTools(Fields &body, ApiRequest &request);

} // namespace firesteel::app
