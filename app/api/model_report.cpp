// SPDX-License-Identifier: MIT
#include "app/api/model_report.h"

#include "app/api/fields.h"
#include "app/api/openai_chat.h"

#include <algorithm>
#include <format>
#include <limits>
#include <vector>

namespace firesteel::app {

std::string modelIdOf(const engine::ModelInfo &model)
{
    std::string id = model.name.empty() ? "model" : model.name;
    std::ranges::replace(id, ' ', '-');
    return id;
}

// The number of threads changes no result.
std::string fingerprintOf(const engine::ModelInfo &model)
{
    const std::string backend = model.backend.substr(0, model.backend.find(" ("));
    return std::format("firesteel-" FIRESTEEL_VERSION "/{}/{}", modelIdOf(model), backend);
}

Json modelReport(const engine::ModelInfo &model, std::int64_t created)
{
    return { { "id", modelIdOf(model) },
             { "object", "model" },
             { "created", created },
             { "owned_by", "firesteel" },
             { "max_model_len", model.contextTokens },
             { "meta",
               { { "n_ctx", model.contextTokens },
                 { "n_vocab", model.vocabularySize },
                 { "n_params", model.parameterCount },
                 { "size", model.weightBytes } } },
             { "architecture",
               { { "input_modalities",
                   model.readsImages ? Json::array({ "text", "image" }) : Json::array({ "text" }) },
                 { "output_modalities", Json::array({ "text" }) } } } };
}

Json modelList(const std::optional<engine::ModelInfo> &model, std::int64_t created)
{
    Json list = Json::array();
    if (model)
        list.push_back(modelReport(*model, created));
    return { { "object", "list" }, { "data", list } };
}

ApiResult<Json> tokenizeAnswer(const engine::Engine &engine, const engine::ModelInfo &model,
                               const Json &body)
{
    Problem problem;
    Fields fields(body, {}, problem);
    engine::Result<std::vector<std::int32_t>> tokens;
    if (fields.any("messages") != nullptr) {
        ApiRequest request;
        readMessages(fields, request.messages);
        readTools(fields, request);
        if (const auto generates = fields.boolean("add_generation_prompt"))
            request.prompt.addGenerationPrompt = *generates;
        if (problem.isReported())
            return std::unexpected(problem.first());
        auto prompt = engine.prepare(request.messages, request.tools, request.prompt);
        tokens = prompt ? engine::Result<std::vector<std::int32_t>>(std::move(prompt->tokens))
                        : std::unexpected(prompt.error());
    } else {
        auto text = fields.string("prompt");
        if (!text)
            text = fields.string("content");
        if (!text)
            problem.report(badRequest("prompt", "prompt must be a string, or messages be there."));
        if (problem.isReported())
            return std::unexpected(problem.first());
        tokens = engine.tokenize(*text);
    }
    if (!tokens)
        return std::unexpected(apiErrorOf(tokens.error()));
    return Json { { "count", tokens->size() },
                  { "max_model_len", model.contextTokens },
                  { "tokens", *tokens } };
}

ApiResult<Json> detokenizeAnswer(const engine::Engine &engine, const Json &body)
{
    Problem problem;
    Fields fields(body, {}, problem);
    std::vector<std::int32_t> ids;
    if (const Json *tokens = fields.array("tokens")) {
        for (const Json &token : *tokens) {
            const bool isId = token.is_number_unsigned()
                && token.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max();
            if (!isId) {
                problem.report(badRequest("tokens", "tokens must be an array of token ids."));
                break;
            }
            ids.push_back(token.get<std::int32_t>());
        }
    } else {
        problem.report(badRequest("tokens", "tokens must be an array of token ids."));
    }
    if (problem.isReported())
        return std::unexpected(problem.first());
    const auto text = engine.detokenize(ids);
    if (!text)
        return std::unexpected(apiErrorOf(text.error()));
    return Json { { "prompt", *text } };
}

} // namespace firesteel::app
