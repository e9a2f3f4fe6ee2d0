// SPDX-License-Identifier: MIT
//
// POST /v1/messages in the format of Anthropic's API, as Claude Code speaks it.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"

namespace firesteel::app {

// counts: for /v1/messages/count_tokens, which needs no max_tokens. Errors: 400, naming the field.
ApiResult<ApiRequest> parseAnthropicMessages(const Json &body, const engine::ModelInfo &model,
                                             bool counts = false);

} // namespace firesteel::app
