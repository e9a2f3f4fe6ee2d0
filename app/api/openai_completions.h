// SPDX-License-Identifier: MIT
//
// POST /v1/completions: text without the chat template, as text or token ids; several prompts are
// answered one after another.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"
#include "app/api/reply_format.h"

namespace firesteel::app {

ApiResult<ApiRequest> parseTextCompletion(const Json &body, const engine::ModelInfo &model);

class OpenAiCompletionReply final : public ReplyFormat
{
public:
    OpenAiCompletionReply(ReplyIdentity identity, bool includesUsage);

    std::string opening(int promptTokens) override;
    std::string beginAnswer(int index) override;
    std::string thinking(const std::string &text) override; // part of the text
    std::string text(const std::string &text) override;
    std::string call(const engine::ToolCallEvent &event) override;
    std::string finish(const engine::Finished &finished) override;
    std::string closing() override;
    std::string failure(const ApiError &error) override;
    std::string whole(std::span<const Reply> answers) override;

private:
    Json head() const;
    Json chunk(const std::string &text) const;

    ReplyIdentity m_identity;
    bool m_includesUsage;
    int m_index = 0;
    engine::Usage m_usage;
};

} // namespace firesteel::app
