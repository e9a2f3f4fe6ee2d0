// SPDX-License-Identifier: MIT
//
// Runs two models over the same text and compares every prediction.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "engine/model/model.h"
#include "engine/quantize/agreement.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace firesteel::engine {

// windows: token ids, each window its own sequence; a window's last token is predicted only.
// progress: parts of the tokens done. Errors: Cancelled, BadRequest (the vocabularies differ).
Result<Agreement> evaluate(Model &teacher, Model &model,
                           const std::vector<std::vector<std::int32_t>> &windows,
                           const std::function<void(double fraction)> &progress,
                           const CancelToken &cancel);

} // namespace firesteel::engine
