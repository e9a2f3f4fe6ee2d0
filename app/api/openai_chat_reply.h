// SPDX-License-Identifier: MIT
//
// Answers of POST /v1/chat/completions: objects "chat.completion" and "chat.completion.chunk".
#pragma once

#include "app/api/reply_format.h"

namespace firesteel::app {

class OpenAiChatReply final : public ReplyFormat
{
public:
    // mirrorsReasoning: thinking under the name "reasoning" as well as "reasoning_content".
    OpenAiChatReply(ReplyIdentity identity, bool includesUsage, bool mirrorsReasoning);

    std::string opening(int promptTokens) override;
    std::string thinking(const std::string &text) override;
    std::string text(const std::string &text) override;
    std::string call(const engine::ToolCallEvent &event) override;
    std::string finish(const engine::Finished &finished) override;
    std::string closing() override;
    std::string failure(const ApiError &error) override;
    std::string whole(std::span<const Reply> answers) override;

private:
    Json head(const char *object) const;
    Json chunk(const Json &delta) const;

    ReplyIdentity m_identity;
    bool m_includesUsage;
    bool m_mirrorsReasoning;
    engine::Usage m_usage;
};

} // namespace firesteel::app
