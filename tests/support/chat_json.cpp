// SPDX-License-Identifier: MIT
#include "tests/support/chat_json.h"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace firesteel::test {

namespace {

using nlohmann::ordered_json;
using Kind = engine::ContentPart::Kind;

constexpr auto kPartKinds = std::to_array<std::pair<std::string_view, Kind>>({
    { "text", Kind::Text },
    { "image", Kind::Image },
    { "image_url", Kind::Image },
    { "video", Kind::Video },
    { "video_url", Kind::Video },
    { "audio", Kind::Audio },
    { "audio_url", Kind::Audio },
    { "input_audio", Kind::Audio },
    { "tool_reference", Kind::ToolReference },
});

std::string stringOr(const ordered_json &object, std::string_view key, std::string fallback)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}

std::string rawJson(const ordered_json &value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<engine::ContentPart> contentFromJson(const ordered_json &content)
{
    std::vector<engine::ContentPart> parts;
    if (content.is_null())
        return parts;
    if (content.is_string())
        return { { Kind::Text, content.get<std::string>() } };
    if (!content.is_array())
        throw std::runtime_error("content must be a string, null or a list");
    for (const ordered_json &item : content) {
        if (item.is_string()) {
            parts.push_back({ Kind::Text, item.get<std::string>() });
            continue;
        }
        for (const auto &[name, kind] : kPartKinds) {
            if (stringOr(item, "type", "") == name)
                parts.push_back(
                    { kind, stringOr(item, kind == Kind::ToolReference ? "name" : "text", "") });
        }
    }
    return parts;
}

engine::ToolCall callFromJson(const ordered_json &call)
{
    const ordered_json &function = call.contains("function") ? call["function"] : call;
    return { stringOr(call, "id", ""), stringOr(function, "name", ""),
             rawJson(function.at("arguments")) };
}

engine::Role roleFromName(std::string_view name)
{
    if (name == "system")
        return engine::Role::System;
    if (name == "user")
        return engine::Role::User;
    if (name == "assistant")
        return engine::Role::Assistant;
    if (name == "tool")
        return engine::Role::Tool;
    throw std::runtime_error("unknown role " + std::string(name));
}

engine::Message messageFromJson(const ordered_json &json)
{
    engine::Message message;
    message.role = roleFromName(stringOr(json, "role", ""));
    const ordered_json content = json.value("content", ordered_json());
    if (content.is_array() && !content.empty() && content[0].is_object()
        && content[0].contains("output")) {
        for (const ordered_json &entry : content) {
            message.toolOutputs.push_back(
                { stringOr(entry, "tool_call_id", stringOr(entry, "id", "")),
                  contentFromJson(entry.value("output", ordered_json())) });
        }
    } else {
        message.content = contentFromJson(content);
    }
    if (json.contains("reasoning_content") && json["reasoning_content"].is_string())
        message.reasoning = json["reasoning_content"].get<std::string>();
    if (json.contains("tool_calls") && json["tool_calls"].is_array()) {
        for (const ordered_json &call : json["tool_calls"])
            message.toolCalls.push_back(callFromJson(call));
    }
    message.toolCallId = stringOr(json, "tool_call_id", stringOr(json, "id", ""));
    return message;
}

} // namespace

std::vector<engine::Message> messagesFromJson(const ordered_json &messages)
{
    std::vector<engine::Message> converted;
    for (const ordered_json &message : messages)
        converted.push_back(messageFromJson(message));
    return converted;
}

std::vector<engine::Tool> toolsFromJson(const ordered_json &tools)
{
    std::vector<engine::Tool> converted;
    for (const ordered_json &tool : tools)
        converted.push_back({ rawJson(tool) });
    return converted;
}

engine::PromptOptions promptOptionsFromJson(const ordered_json &variables)
{
    engine::PromptOptions options;
    const std::string effort = stringOr(variables, "reasoning_effort", "max");
    if (effort == "low" || effort == "high")
        options.effort
            = effort == "low" ? engine::ReasoningEffort::Low : engine::ReasoningEffort::High;
    options.clearThinking = variables.value("clear_thinking", false);
    options.thinking = variables.value("thinking", true);
    options.addGenerationPrompt = variables.value("add_generation_prompt", true);
    return options;
}

} // namespace firesteel::test
