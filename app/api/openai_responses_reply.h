// SPDX-License-Identifier: MIT
//
// Answers of POST /v1/responses: an object "response" whose output is items of reasoning, message
// and function_call, or the events that build it.
#pragma once

#include "app/api/reply_format.h"

#include <optional>

namespace firesteel::app {

class OpenAiResponsesReply final : public ReplyFormat
{
public:
    explicit OpenAiResponsesReply(ReplyIdentity identity);

    std::string opening(int promptTokens) override;
    std::string thinking(const std::string &text) override;
    std::string text(const std::string &text) override;
    std::string call(const engine::ToolCallEvent &event) override;
    std::string finish(const engine::Finished &finished) override;
    std::string closing() override;
    std::string failure(const ApiError &error) override;
    std::string whole(std::span<const Reply> answers) override;

private:
    enum class Item { Reasoning, Message };

    std::string event(const char *type, const Json &fields);
    std::string piece(Item kind, const std::string &text);
    std::string close();
    std::string newItemId(const char *prefix);
    Json textItem(Item kind, const std::string &id, const std::string &text) const;
    Json response(const char *status, const engine::Finished *finished) const;

    ReplyIdentity m_identity;
    Json m_output = Json::array(); // items that are complete
    std::optional<Item> m_open;
    std::string m_openId;
    std::string m_openText;
    int m_sequence = 0;
};

} // namespace firesteel::app
