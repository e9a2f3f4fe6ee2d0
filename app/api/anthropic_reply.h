// SPDX-License-Identifier: MIT
//
// Answers of POST /v1/messages: content blocks of thinking, text and tool_use, one after another.
#pragma once

#include "app/api/reply_format.h"

namespace firesteel::app {

class AnthropicReply final : public ReplyFormat
{
public:
    // stops: what the request named, to say which of them ended the answer where that is certain.
    AnthropicReply(ReplyIdentity identity, std::vector<std::string> stops);

    std::string opening(int promptTokens) override;
    std::string thinking(const std::string &text) override;
    std::string text(const std::string &text) override;
    std::string call(const engine::ToolCallEvent &event) override;
    std::string finish(const engine::Finished &finished) override;
    std::string closing() override;
    std::string failure(const ApiError &error) override;
    std::string ping() const override;
    std::string whole(std::span<const Reply> answers) override;
    std::string errorBody(const ApiError &error) const override;

private:
    enum class Block { None, Thinking, Text };

    std::string open(Block kind);
    std::string close();
    std::string delta(const Json &delta) const;
    Json message(const Json &content, const Json &usage) const;
    Json stopSequence(engine::FinishReason reason) const;

    ReplyIdentity m_identity;
    std::vector<std::string> m_stops;
    Block m_block = Block::None;
    int m_index = 0; // of the open block, else of the next
};

} // namespace firesteel::app
