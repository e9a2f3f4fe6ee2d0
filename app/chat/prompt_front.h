// SPDX-License-Identifier: MIT
//
// What stands before the first message of a prompt. When it changes, nothing that the model has
// read of a chat counts any more: the whole chat is read again.
#pragma once

#include "app/settings/request_settings.h"
#include "engine/api/request.h"

#include <QString>

#include <optional>

namespace firesteel::app {

struct PromptFront
{
    engine::ReasoningEffort effort = engine::ReasoningEffort::Max;
    QString systemPrompt;

    bool operator==(const PromptFront &) const = default;
};

PromptFront promptFront(const RequestSettings &settings);

// For a person, before the next question: what is read again, and how long that takes. Empty where
// the fronts are the same. `tokens` of the chat; 0: not known. `tokensPerSecond` of reading; unset:
// not measured.
QString rereadText(const PromptFront &read, const PromptFront &next, int tokens,
                   std::optional<double> tokensPerSecond);

} // namespace firesteel::app
