// SPDX-License-Identifier: MIT
#include "engine/serve/model_facts.h"

#include "engine/grammar/json_grammar.h"
#include "engine/grammar/tool_call_grammar.h"
#include "engine/text/chat_format.h"
#include "engine/text/chat_tools.h"

#include <algorithm>
#include <cmath>
#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::size_t kMaxStopStrings = 16;

std::unexpected<Error> badParameter(std::string_view name, double value, std::string_view range)
{
    return fail(ErrorCode::BadRequest, std::format("{} is {}; it must be {}.", name, value, range));
}

std::vector<std::uint64_t> mappedTokensOf(const Tokenizer &tokenizer, int vocabularySize)
{
    constexpr std::int32_t kBits = 64;
    std::vector<std::uint64_t> words(static_cast<std::size_t>((vocabularySize + kBits - 1) / kBits),
                                     0);
    for (std::int32_t id = 0; id < vocabularySize; ++id) {
        if (tokenizer.isMapped(id))
            words[static_cast<std::size_t>(id / kBits)] |= std::uint64_t { 1 } << (id % kBits);
    }
    return words;
}

// Whether text generated after `tokens` continues an open reasoning block.
bool endsInThinking(const Tokenizer &tokenizer, std::span<const std::int32_t> tokens)
{
    const auto open = tokenizer.addedTokenId("<think>");
    const auto close = tokenizer.addedTokenId("</think>");
    for (std::size_t i = tokens.size(); i-- > 0;) {
        if (tokens[i] == close)
            return false;
        if (tokens[i] == open)
            return true;
    }
    return false;
}

// Where the last turn of a user begins; the number of tokens without one.
std::size_t lastUserTurn(const Tokenizer &tokenizer, std::span<const std::int32_t> tokens)
{
    const auto user = tokenizer.addedTokenId("<|user|>");
    for (std::size_t i = tokens.size(); user && i-- > 0;) {
        if (tokens[i] == *user)
            return i;
    }
    return tokens.size();
}

// The texts of the messages, for prompts that go without the template.
Result<std::string> joinedText(std::span<const Message> messages)
{
    std::string text;
    for (const Message &message : messages) {
        for (const ContentPart &part : message.content) {
            if (part.kind != ContentPart::Kind::Text)
                return fail(ErrorCode::BadRequest,
                            "A prompt without the template can hold text only.");
            text += part.text;
        }
    }
    return text;
}

} // namespace

ModelFacts::ModelFacts(Tokenizer tokenizer, ModelInfo info, std::vector<std::int32_t> eosTokenIds,
                       LoadedSize size)
    : m_tokenizer(std::move(tokenizer))
    , m_info(std::move(info))
    , m_eosTokenIds(std::move(eosTokenIds))
    , m_size(std::move(size))
    , m_mappedTokens(mappedTokensOf(m_tokenizer, m_info.vocabularySize))
{
}

Result<void> ModelFacts::checkLength(std::size_t promptTokens) const
{
    if (promptTokens + 1 > static_cast<std::size_t>(m_info.contextTokens)) {
        return fail(ErrorCode::ContextExceeded,
                    std::format("This model's maximum context length is {} tokens. However, your "
                                "messages resulted in {} tokens.",
                                m_info.contextTokens, promptTokens));
    }
    return {};
}

Result<Prompt> ModelFacts::prepare(std::span<const Message> messages, std::span<const Tool> tools,
                                   const PromptOptions &options) const
{
    auto types = toolParameterTypes(tools);
    if (!types)
        return std::unexpected(types.error());
    Prompt prompt;
    if (options.applyTemplate) {
        std::vector<std::optional<ReplyTokens>> replies;
        replies.reserve(messages.size());
        for (const Message &message : messages)
            replies.push_back(replyTokens(m_tokenizer, message, m_eosTokenIds, *types));
        const auto segments = renderChatSegments(messages, tools, options, replies);
        if (!segments)
            return std::unexpected(segments.error());
        prompt.tokens = encodeChat(m_tokenizer, *segments);
    } else {
        const auto text = joinedText(messages);
        if (!text)
            return std::unexpected(text.error());
        prompt.tokens = m_tokenizer.encode(*text);
    }
    prompt.startsInThinking = endsInThinking(m_tokenizer, prompt.tokens);
    prompt.lastUserTurn = lastUserTurn(m_tokenizer, prompt.tokens);
    prompt.toolParameterTypes = std::move(*types);
    if (auto checked = checkLength(prompt.tokens.size()); !checked)
        return std::unexpected(checked.error());
    return prompt;
}

std::shared_ptr<const AnswerTokens> ModelFacts::answerTokens() const
{
    std::call_once(m_hasAnswerTokens, [this] {
        m_answerTokens = std::make_shared<const AnswerTokens>(m_tokenizer, m_info.vocabularySize,
                                                              m_eosTokenIds);
    });
    return m_answerTokens;
}

Result<std::shared_ptr<const Grammar>> ModelFacts::grammarOf(const AnswerFormat &format) const
{
    switch (format.kind) {
    case AnswerFormat::Kind::Free:
        return nullptr;
    case AnswerFormat::Kind::JsonObject:
        return jsonObjectGrammar();
    case AnswerFormat::Kind::JsonSchema:
        return jsonSchemaGrammar(format.schema);
    case AnswerFormat::Kind::ToolCalls:
        break;
    }
    if (!answerTokens()->hasEveryTag())
        return fail(ErrorCode::BadRequest, "This model has no way to call a tool.");
    const auto tools = parseChatTools(format.tools);
    if (!tools)
        return std::unexpected(tools.error());
    std::vector<CallableTool> callable;
    callable.reserve(tools->size());
    for (const ChatTool &tool : *tools) {
        const PromptJson *parameters = tool.function.find("parameters");
        callable.push_back(
            { tool.name, parameters != nullptr ? dumpPromptJson(*parameters) : std::string() });
    }
    return toolCallGrammar(callable, format.allowsParallelCalls);
}

Result<void> checkSampling(const SamplingParams &params, int vocabularySize)
{
    // Written so that a NaN fails each of them.
    if (!(params.temperature >= 0) || !std::isfinite(params.temperature))
        return badParameter("temperature", params.temperature, "0 or more");
    if (!(params.topP > 0 && params.topP <= 1))
        return badParameter("top_p", params.topP, "above 0 and at most 1");
    if (params.topK < 0)
        return badParameter("top_k", params.topK, "0 (off) or more");
    if (!(params.minP >= 0 && params.minP < 1))
        return badParameter("min_p", params.minP, "at least 0 and below 1");
    if (!(params.repetitionPenalty > 0) || !std::isfinite(params.repetitionPenalty))
        return badParameter("repetition_penalty", params.repetitionPenalty, "above 0");
    if (!std::isfinite(params.presencePenalty))
        return badParameter("presence_penalty", params.presencePenalty, "a number");
    if (!std::isfinite(params.frequencyPenalty))
        return badParameter("frequency_penalty", params.frequencyPenalty, "a number");
    for (const auto &[id, bias] : params.logitBias) {
        if (id < 0 || id >= vocabularySize) {
            return fail(ErrorCode::BadRequest,
                        std::format("logit_bias names token {}; ids go from 0 to {}.", id,
                                    vocabularySize - 1));
        }
        if (!std::isfinite(bias))
            return badParameter(std::format("logit_bias of token {}", id), bias, "a number");
    }
    return {};
}

Result<void> ModelFacts::check(const GenerationRequest &request) const
{
    const std::vector<std::int32_t> &tokens = request.prompt.tokens;
    if (tokens.empty())
        return fail(ErrorCode::BadRequest, "The prompt is empty.");
    const auto outside = std::ranges::find_if(
        tokens, [&](std::int32_t id) { return id < 0 || id >= m_info.vocabularySize; });
    if (outside != tokens.end()) {
        return fail(ErrorCode::BadRequest,
                    std::format("The prompt holds token {}; ids go from 0 to {}.", *outside,
                                m_info.vocabularySize - 1));
    }
    if (auto checked = checkSampling(request.sampling, m_info.vocabularySize); !checked)
        return checked;
    if (request.maxTokens && *request.maxTokens < 1)
        return badParameter("max_tokens", *request.maxTokens, "1 or more");
    if (request.thinkingBudget && *request.thinkingBudget < 1)
        return badParameter("thinking_budget", *request.thinkingBudget, "1 or more");
    if (request.stop.size() > kMaxStopStrings)
        return badParameter("the number of stop strings", static_cast<double>(request.stop.size()),
                            "at most 16");
    if (std::ranges::any_of(request.stop, &std::string::empty))
        return fail(ErrorCode::BadRequest, "A stop string is empty.");
    const Drafting &drafting = request.drafting;
    if (drafting.tokens && (*drafting.tokens < 0 || *drafting.tokens > Drafting::kMaxTokens))
        return badParameter("the number of draft tokens", *drafting.tokens, "0 to 8");
    if (drafting.drafter == DrafterKind::Dflash2 && m_info.drafter.empty())
        return fail(ErrorCode::BadRequest, "No DFlash2 drafter is loaded.");
    return checkLength(tokens.size());
}

} // namespace firesteel::engine
