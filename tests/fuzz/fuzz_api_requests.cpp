// SPDX-License-Identifier: MIT
//
// Input: a byte that chooses the dialect, then a body. Whatever it is, parsing answers a request or
// a refusal of 400 that names what is wrong; and what was parsed, written as an answer, is JSON.
#include "app/api/access_rules.h"
#include "app/api/anthropic_messages.h"
#include "app/api/anthropic_reply.h"
#include "app/api/api_routes.h"
#include "app/api/openai_chat.h"
#include "app/api/openai_chat_reply.h"
#include "app/api/openai_completions.h"
#include "app/api/openai_responses.h"
#include "app/api/openai_responses_reply.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace firesteel;
using namespace firesteel::app;

namespace {

ApiResult<ApiRequest> parseAs(unsigned dialect, const Json &body)
{
    const engine::ModelInfo model;
    switch (dialect) {
    case 0:
        return parseChatCompletion(body, model);
    case 1:
        return parseTextCompletion(body, model);
    case 2:
        return parseResponses(body, model);
    default:
        return parseAnthropicMessages(body, model);
    }
}

void expect(bool isTrue)
{
    if (!isTrue)
        std::abort();
}

void checkJson(std::string_view text) { expect(Json::accept(text)); }

// The texts of the request come back in the answer.
void writeReply(ReplyFormat &format, const ApiRequest &request)
{
    Reply reply;
    for (const engine::Message &message : request.messages) {
        for (const engine::ContentPart &part : message.content)
            reply.text += part.text;
        reply.thinking += message.reasoning.value_or("");
        reply.calls.insert(reply.calls.end(), message.toolCalls.begin(), message.toolCalls.end());
    }
    std::string stream = format.opening(1);
    stream += format.thinking(reply.thinking);
    stream += format.text(reply.text);
    for (int index = 0; const engine::ToolCall &call : reply.calls)
        stream += format.call({ index++, call });
    stream += format.finish(reply.finished);
    stream += format.closing();
    std::string_view rest = stream;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        expect(end != std::string_view::npos);
        const std::string_view line = rest.substr(0, end);
        if (line.starts_with("data: ") && line != "data: [DONE]")
            checkJson(line.substr(6));
        else
            expect(line.empty() || line.starts_with("event: ") || line == "data: [DONE]");
        rest.remove_prefix(end + 1);
    }
    checkJson(format.whole(std::vector { reply }));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
    const unsigned dialect = data[0] % 4;
    static_cast<void>(routeOf(text));
    static_cast<void>(hostProblem(text, 1, {}));
    if (const auto origin = normalOrigin(text))
        expect(normalOrigin(*origin) == origin); // a form that stays
    const auto body = parseBody(text);
    const auto request
        = body ? parseAs(dialect, *body) : ApiResult<ApiRequest>(std::unexpected(body.error()));
    if (!request) {
        expect(request.error().status == 400 && !request.error().message.empty());
        checkJson(openAiErrorBody(request.error()));
        checkJson(anthropicErrorBody(request.error()));
        return 0;
    }
    std::vector<std::unique_ptr<ReplyFormat>> formats;
    formats.push_back(std::make_unique<OpenAiChatReply>(ReplyIdentity {}, true, true));
    formats.push_back(std::make_unique<OpenAiCompletionReply>(ReplyIdentity {}, true));
    formats.push_back(std::make_unique<OpenAiResponsesReply>(ReplyIdentity {}));
    formats.push_back(std::make_unique<AnthropicReply>(ReplyIdentity {}, request->generation.stop));
    writeReply(*formats[dialect], *request);
    return 0;
}
