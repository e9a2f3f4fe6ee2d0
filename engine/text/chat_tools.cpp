// SPDX-License-Identifier: MIT
#include "engine/text/chat_tools.h"

#include "engine/text/chat_format.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

namespace firesteel::engine {

namespace {

using Kind = PromptJson::Kind;

// The template writes the outermost keys as they are, without escaping.
std::string toolLine(const PromptJson &function)
{
    std::string line = "{";
    for (std::size_t i = 0; i < function.items.size(); ++i) {
        const std::string &key = function.keys[i];
        if (key == "defer_loading" || key == "strict")
            continue;
        if (line.size() > 1)
            line += ", ";
        line += std::format("\"{}\": {}", key, dumpPromptJson(function.items[i]));
    }
    return line + "}";
}

// Adds the type names that `schema` allows: "type" as a string or list, the branches of anyOf and
// oneOf, else the kind of the enumerated values as far as they are strings.
void collectTypes(const PromptJson &schema, std::set<std::string> &types)
{
    if (const PromptJson *type = schema.find("type")) {
        if (type->kind == Kind::String)
            types.insert(type->text);
        for (const PromptJson &item : type->items)
            types.insert(item.text);
        return;
    }
    for (const std::string_view key : { "anyOf", "oneOf" }) {
        if (const PromptJson *branches = schema.find(key)) {
            for (const PromptJson &branch : branches->items)
                collectTypes(branch, types);
        }
    }
    const PromptJson *values = schema.find("enum");
    if (values != nullptr && !values->items.empty()
        && std::ranges::all_of(values->items,
                               [](const PromptJson &value) { return value.kind == Kind::String; }))
        types.insert("string");
}

std::string parameterType(const PromptJson &schema)
{
    std::set<std::string> types;
    collectTypes(schema, types);
    if (types.size() == 1)
        return *types.begin();
    return types == std::set<std::string> { "null", "string" } ? "string|null" : "";
}

} // namespace

Result<std::vector<ChatTool>> parseChatTools(std::span<const Tool> tools)
{
    std::vector<ChatTool> parsed;
    for (const Tool &tool : tools) {
        const std::string what = std::format("tools[{}]", parsed.size());
        Result<PromptJson> json = parsePromptJson(tool.json, what);
        if (!json)
            return std::unexpected(json.error());
        const PromptJson *function = json->find("function");
        ChatTool &entry = parsed.emplace_back();
        entry.function = function != nullptr ? PromptJson(*function) : std::move(*json);
        if (entry.function.kind != Kind::Object)
            return fail(ErrorCode::BadRequest, std::format("{}: expected a JSON object", what));
        if (const PromptJson *name = entry.function.find("name");
            name != nullptr && name->kind == Kind::String)
            entry.name = name->text;
        const PromptJson *deferred = entry.function.find("defer_loading");
        entry.isDeferred = deferred != nullptr && deferred->isTruthy();
        entry.line = toolLine(entry.function);
    }
    return parsed;
}

Result<std::map<std::string, std::map<std::string, std::string>>>
toolParameterTypes(std::span<const Tool> tools)
{
    const auto parsed = parseChatTools(tools);
    if (!parsed)
        return std::unexpected(parsed.error());
    std::map<std::string, std::map<std::string, std::string>> types;
    for (const ChatTool &tool : *parsed) {
        auto &parameters = types[tool.name];
        const PromptJson *schema = tool.function.find("parameters");
        const PromptJson *properties = schema == nullptr ? nullptr : schema->find("properties");
        if (properties == nullptr)
            continue;
        for (std::size_t i = 0; i < properties->keys.size(); ++i)
            parameters[properties->keys[i]] = parameterType(properties->items[i]);
    }
    return types;
}

} // namespace firesteel::engine
