// SPDX-License-Identifier: MIT
//
// What the events of one streamed chat completion say, in the dialects of OpenAI, vLLM, SGLang and
// this program's own endpoint: pieces of text and reasoning, fragments of tool calls, the reason of
// the end, the usage, an error in the middle. Knows nothing of the network.
#pragma once

#include "engine/api/error.h"
#include "engine/api/event.h"

#include <QByteArray>
#include <QJsonObject>
#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

struct ChatDelta
{
    std::string thinking; // UTF-8; either may be empty
    std::string text;
};

class ChatStream
{
public:
    // The data of the next event. Error: what the server said went wrong, or what in the event
    // is not as the protocol has it.
    engine::Result<ChatDelta> read(const QByteArray &data);

    bool isDone() const { return m_isDone; } // nothing follows
    // Whether the server said that the answer is complete.
    bool isComplete() const { return m_isDone || m_finish.has_value(); }
    engine::FinishReason finishReason() const;
    const std::optional<engine::Usage> &usage() const { return m_usage; }
    // In the order of their indices, each joined from its fragments.
    const std::vector<engine::ToolCall> &toolCalls() const { return m_calls; }

private:
    engine::Result<void> addCalls(const QJsonArray &fragments);

    bool m_isDone = false;
    std::optional<QString> m_finish; // as the server calls it
    std::optional<engine::Usage> m_usage;
    std::vector<engine::ToolCall> m_calls;
};

// The sentence in an error answer of a server: {"error": {"message"}}, {"error": ""}, {"message"},
// {"detail"}. Empty: none was found.
QString remoteErrorMessage(const QJsonObject &answer);

} // namespace firesteel::app
