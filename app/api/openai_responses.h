// SPDX-License-Identifier: MIT
//
// POST /v1/responses, as Codex and OpenAI's library speak it. Nothing is stored between requests:
// each carries its whole conversation.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"

namespace firesteel::app {

// Errors: 400, naming the field.
ApiResult<ApiRequest> parseResponses(const Json &body, const engine::ModelInfo &model);

} // namespace firesteel::app
