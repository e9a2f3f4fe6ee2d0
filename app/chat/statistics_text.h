// SPDX-License-Identifier: MIT
//
// The dim line below an answer, and the words for errors: engine facts turned into what a person
// reads.
#pragma once

#include "engine/api/error.h"
#include "engine/api/event.h"

#include <QString>

namespace firesteel::app {

// "41.2 tok/s · 0.4 s to first token · 512 tokens", with the reason in front where the answer was
// cut short.
QString statisticsText(const engine::Finished &finished);

// What would help: "retry", "reloadModel", "newConversation".
QString errorAction(engine::ErrorCode code);
QString errorText(const engine::Error &error);

} // namespace firesteel::app
