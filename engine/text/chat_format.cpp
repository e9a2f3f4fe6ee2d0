// SPDX-License-Identifier: MIT
#include "engine/text/chat_format.h"

#include "engine/text/chat_segments.h"
#include "engine/text/chat_tools.h"

#include <algorithm>
#include <format>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

namespace firesteel::engine {

namespace {

using PartKind = ContentPart::Kind;
using Parts = std::vector<ContentPart>;

constexpr std::string_view kThinkBegin = "<think>";
constexpr std::string_view kThinkEnd = "</think>";

bool refersToTools(const Parts &content)
{
    return !content.empty() && content.front().kind == PartKind::ToolReference;
}

ChatSegments visible(const Parts &content)
{
    SegmentWriter out;
    const auto media = [&out](std::initializer_list<std::string_view> tokens) {
        for (const std::string_view token : tokens)
            out.control(token);
    };
    for (const ContentPart &part : content) {
        switch (part.kind) {
        case PartKind::Text:
            out.text(part.text);
            break;
        case PartKind::Image:
            media({ "<|begin_of_image|>", "<|image|>", "<|end_of_image|>" });
            break;
        case PartKind::Video:
            media({ "<|begin_of_video|>", "<|video|>", "<|end_of_video|>" });
            break;
        case PartKind::Audio: // no audio encoder exists: an empty frame
            media({ "<|begin_of_audio|>", "<|end_of_audio|>" });
            break;
        case PartKind::ToolReference: // counts only where it comes first: refersToTools()
            break;
        }
    }
    return out.take();
}

std::string_view effortName(ReasoningEffort effort)
{
    switch (effort) {
    case ReasoningEffort::Low:
        return "Low";
    case ReasoningEffort::High:
        return "High";
    case ReasoningEffort::Max:
        break;
    }
    return "Max";
}

// One result of a run of tool messages.
struct ToolResult
{
    std::string_view id;
    const Parts *content = nullptr;
};

std::vector<ToolResult> toolResults(std::span<const Message> run)
{
    std::vector<ToolResult> results;
    for (const Message &message : run) {
        if (message.toolOutputs.empty())
            results.push_back({ message.toolCallId, &message.content });
        for (const ToolOutput &output : message.toolOutputs)
            results.push_back({ output.id, &output.content });
    }
    return results;
}

// Puts results into the order of the calls they answer, if both have ids, all different, and each
// result has its call.
void sortByCalls(std::vector<ToolResult> &results, std::span<const ToolCall> calls)
{
    std::map<std::string_view, std::size_t> order;
    for (const ToolCall &call : calls) {
        if (call.id.empty() || !order.emplace(call.id, order.size()).second)
            return;
    }
    std::set<std::string_view> answered;
    for (const ToolResult &result : results) {
        if (!order.contains(result.id) || !answered.insert(result.id).second)
            return;
    }
    std::ranges::sort(results, {},
                      [&order](const ToolResult &result) { return order.find(result.id)->second; });
}

class ChatRenderer
{
public:
    ChatRenderer(std::span<const Message> messages, std::vector<ChatTool> tools,
                 std::vector<std::vector<PromptJson>> callArguments, const PromptOptions &options,
                 std::span<const std::optional<ReplyTokens>> replies)
        : m_messages(messages)
        , m_replies(replies)
        , m_tools(std::move(tools))
        , m_callArguments(std::move(callArguments))
        , m_options(options)
    {
    }

    std::vector<ChatSegment> render()
    {
        m_out.control("[gMASK]");
        m_out.control("<sop>");
        m_out.control("<|system|>");
        m_out.text("Reasoning Effort: ");
        m_out.text(effortName(m_options.effort));
        if (!m_tools.empty())
            writeTools();
        const auto lastUser = std::ranges::find_last(m_messages, Role::User, &Message::role);
        m_lastUser = lastUser.empty() ? -1 : lastUser.begin() - m_messages.begin();
        for (std::size_t i = 0; i < m_messages.size(); ++i)
            writeMessage(i);
        if (m_options.addGenerationPrompt) {
            m_out.control("<|assistant|>");
            m_out.control(kThinkBegin);
            if (!m_options.thinking)
                m_out.control(kThinkEnd);
        }
        return m_out.take();
    }

private:
    void writeTools()
    {
        m_out.control("<|system|>");
        m_out.text(
            "\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
            "You are provided with function signatures within <tools></tools> XML "
            "tags:\n<tools>\n");
        for (const ChatTool &tool : m_tools) {
            if (!tool.isDeferred) {
                m_out.text(tool.line);
                m_out.text("\n");
            }
        }
        m_out.text("</tools>\n\nFor each function call, output the function name and arguments "
                   "within the following XML "
                   "format:\n");
        m_out.control("<tool_call>");
        m_out.text("{function-name}");
        writeArgument("{arg-key-1}", "{arg-value-1}");
        writeArgument("{arg-key-2}", "{arg-value-2}");
        m_out.text("...");
        m_out.control("</tool_call>");
    }

    void writeMessage(std::size_t index)
    {
        const Message &message = m_messages[index];
        switch (message.role) {
        case Role::System:
            m_out.control("<|system|>");
            m_out.append(visible(message.content));
            break;
        case Role::User:
            m_out.control("<|user|>");
            m_out.append(visible(message.content));
            break;
        case Role::Assistant:
            writeAssistant(index);
            break;
        case Role::Tool:
            if (index == 0 || m_messages[index - 1].role != Role::Tool)
                writeToolRun(index);
            break;
        }
    }

    void writeAssistant(std::size_t index)
    {
        const Message &message = m_messages[index];
        const bool showsReasoning = !m_options.clearThinking || std::cmp_greater(index, m_lastUser);
        const ReplyTokens *reply
            = index < m_replies.size() && m_replies[index] ? &*m_replies[index] : nullptr;
        // The template trims an answer. Where it shows the reasoning, it repeats what the model
        // wrote, and that has precedence; else the tokens are as good as the text only where there
        // is nothing to trim.
        if (reply != nullptr && (showsReasoning || !reply->answerHasOuterSpace)) {
            m_out.control("<|assistant|>");
            m_out.control(kThinkBegin);
            if (showsReasoning)
                m_out.exact(reply->reasoning);
            m_out.control(kThinkEnd);
            m_out.exact(reply->answer);
            return;
        }
        ChatSegments content = visible(message.content);
        SegmentWriter given;
        given.text(message.reasoning.value_or(""));
        const ChatSegments reasoning
            = message.reasoning ? given.take() : takeInlineReasoning(content);
        stripSegments(content);
        m_out.control("<|assistant|>");
        m_out.control(kThinkBegin);
        if (showsReasoning)
            m_out.append(reasoning);
        m_out.control(kThinkEnd);
        m_out.append(content);
        for (std::size_t i = 0; i < message.toolCalls.size(); ++i)
            writeToolCall(message.toolCalls[i].name, m_callArguments[index][i]);
    }

    void writeToolCall(std::string_view name, const PromptJson &arguments)
    {
        m_out.control("<tool_call>");
        m_out.text(name);
        for (std::size_t i = 0; i < arguments.items.size(); ++i) {
            const PromptJson &value = arguments.items[i];
            writeArgument(arguments.keys[i],
                          value.kind == PromptJson::Kind::String ? value.text
                                                                 : dumpPromptJson(value));
        }
        m_out.control("</tool_call>");
    }

    void writeArgument(std::string_view key, std::string_view value)
    {
        m_out.control("<arg_key>");
        m_out.text(key);
        m_out.control("</arg_key>");
        m_out.control("<arg_value>");
        m_out.text(value);
        m_out.control("</arg_value>");
    }

    void writeToolRun(std::size_t begin)
    {
        const std::span<const Message> rest = m_messages.subspan(begin);
        const auto end = std::ranges::find_if(
            rest, [](const Message &message) { return message.role != Role::Tool; });
        std::vector<ToolResult> results
            = toolResults(rest.first(static_cast<std::size_t>(end - rest.begin())));
        if (begin > 0 && m_messages[begin - 1].role == Role::Assistant)
            sortByCalls(results, m_messages[begin - 1].toolCalls);
        m_out.control("<|observation|>");
        for (const ToolResult &result : results)
            writeToolResult(*result.content);
    }

    void writeToolResult(const Parts &content)
    {
        m_out.control("<tool_response>");
        if (refersToTools(content)) {
            m_out.text("<tools>\n");
            for (const ContentPart &reference : content)
                writeReferencedTools(reference);
            m_out.text("</tools>");
        } else {
            m_out.append(visible(content));
        }
        m_out.control("</tool_response>");
    }

    void writeReferencedTools(const ContentPart &reference)
    {
        for (const ChatTool &tool : m_tools) {
            if (reference.kind == PartKind::ToolReference && tool.name == reference.text) {
                m_out.text(tool.line);
                m_out.text("\n");
            }
        }
    }

    std::span<const Message> m_messages;
    std::span<const std::optional<ReplyTokens>> m_replies; // by message, or empty
    std::vector<ChatTool> m_tools;
    std::vector<std::vector<PromptJson>> m_callArguments; // by message and call
    PromptOptions m_options;
    std::ptrdiff_t m_lastUser = -1;
    SegmentWriter m_out;
};

// By message and call.
Result<std::vector<std::vector<PromptJson>>> parseCallArguments(std::span<const Message> messages)
{
    std::vector<std::vector<PromptJson>> parsed(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        for (const ToolCall &call : messages[i].toolCalls) {
            const std::string what
                = std::format("messages[{}].tool_calls[{}].arguments", i, parsed[i].size());
            Result<PromptJson> json = parsePromptJson(call.argumentsJson, what);
            if (!json)
                return std::unexpected(json.error());
            if (json->kind != PromptJson::Kind::Object)
                return fail(ErrorCode::BadRequest, std::format("{}: expected a JSON object", what));
            parsed[i].push_back(std::move(*json));
        }
    }
    return parsed;
}

// The template fails where a result refers to tools and the request has none.
Result<void> checkToolReferences(std::span<const Message> messages)
{
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Message &message = messages[i];
        const bool refers = message.toolOutputs.empty()
            ? refersToTools(message.content)
            : std::ranges::any_of(message.toolOutputs, refersToTools, &ToolOutput::content);
        if (message.role == Role::Tool && refers)
            return fail(
                ErrorCode::BadRequest,
                std::format("messages[{}]: a tool reference, but the request has no tools", i));
    }
    return {};
}

} // namespace

Result<std::vector<ChatSegment>>
renderChatSegments(std::span<const Message> messages, std::span<const Tool> tools,
                   const PromptOptions &options,
                   std::span<const std::optional<ReplyTokens>> replies)
{
    auto parsedTools = parseChatTools(tools);
    if (!parsedTools)
        return std::unexpected(parsedTools.error());
    auto callArguments = parseCallArguments(messages);
    if (!callArguments)
        return std::unexpected(callArguments.error());
    if (tools.empty()) {
        if (const auto checked = checkToolReferences(messages); !checked)
            return std::unexpected(checked.error());
    }
    return ChatRenderer(messages, std::move(*parsedTools), std::move(*callArguments), options,
                        replies)
        .render();
}

Result<std::string> renderChat(std::span<const Message> messages, std::span<const Tool> tools,
                               const PromptOptions &options)
{
    return renderChatSegments(messages, tools, options).transform([](const ChatSegments &segments) {
        std::string text;
        for (const ChatSegment &segment : segments)
            text += segment.text;
        return text;
    });
}

std::vector<std::int32_t> encodeChat(const Tokenizer &tokenizer,
                                     std::span<const ChatSegment> segments)
{
    std::vector<std::int32_t> ids;
    std::string text; // since the last control token
    const auto flush = [&] {
        const std::vector<std::int32_t> encoded = tokenizer.encodeOrdinary(text);
        ids.insert(ids.end(), encoded.begin(), encoded.end());
        text.clear();
    };
    for (const ChatSegment &segment : segments) {
        const auto id = segment.isControl ? tokenizer.addedTokenId(segment.text) : std::nullopt;
        if (id) {
            flush();
            ids.push_back(*id);
        } else if (!segment.ids.empty()) {
            flush();
            ids.insert(ids.end(), segment.ids.begin(), segment.ids.end());
        } else {
            text += segment.text; // also a control token that this vocabulary lacks
        }
    }
    flush();
    return ids;
}

} // namespace firesteel::engine
