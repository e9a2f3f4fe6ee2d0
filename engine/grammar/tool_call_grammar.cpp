// SPDX-License-Identifier: MIT
#include "engine/grammar/tool_call_grammar.h"

#include "engine/base/printable.h"
#include "engine/grammar/json_schema_reader.h"
#include "engine/grammar/json_value_rules.h"
#include "engine/grammar/text_pattern.h"
#include "engine/text/chat_format.h"

#include <algorithm>
#include <format>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace firesteel::engine {

namespace {

using Expression = GrammarBuilder::Expression;

constexpr std::size_t kMaxTools = 512;
constexpr std::size_t kMaxFreeArguments = 32;
// Keys of arguments that the schema does not name: what OutputParser leaves as it is.
constexpr std::string_view kFreeKey = "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$";

bool hasSpaceAround(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    return text.empty() || kSpace.contains(text.front()) || kSpace.contains(text.back());
}

class ToolCallRules
{
public:
    explicit ToolCallRules(GrammarBuilder &builder)
        : m_builder(builder)
        , m_strings(builder)
    {
    }

    Result<Expression> call(const CallableTool &tool)
    {
        const std::string what = std::format("tool '{}'", printable(tool.name));
        if (hasSpaceAround(tool.name) || tool.name.find_first_of(" \t\r\n<") != std::string::npos)
            return fail(ErrorCode::BadRequest,
                        std::format("{}: a name is a word without space and '<'", what));
        const std::string parameters = tool.parameters.empty() ? "{}" : tool.parameters;
        const Result<JsonSchemas> schemas = readJsonSchema(parameters, what);
        if (!schemas)
            return std::unexpected(schemas.error());
        Result<Expression> arguments = argumentsOf(tool.name, parameters, *schemas);
        if (!arguments)
            return fail(arguments.error().code,
                        std::format("{}: {}", what, arguments.error().message));
        return m_builder.sequence(
            { tag(ToolTag::Call), m_builder.bytes(tool.name), *arguments, tag(ToolTag::EndCall) });
    }

private:
    Expression tag(ToolTag tag) { return m_builder.symbol(static_cast<Symbol>(tag)); }

    Result<Expression> argumentsOf(const std::string &name, const std::string &parameters,
                                   const JsonSchemas &schemas)
    {
        const PromptJson nameJson { PromptJson::Kind::String, name, {}, {} };
        const Tool asGiven { std::format("{{\"name\": {}, \"parameters\": {}}}",
                                         dumpPromptJson(nameJson), parameters) };
        auto types = toolParameterTypes(std::span(&asGiven, 1));
        if (!types)
            return std::unexpected(types.error());
        const std::map<std::string, std::string> &readAs = (*types)[name];

        JsonValueRules values(m_builder, m_strings, schemas);
        std::vector<Expression> ways;
        for (const Conjunction &object : values.alternatives({ 0 })) {
            if (!hasType(schemas.typesOf(object), JsonType::Object))
                continue;
            if (std::ranges::any_of(object, [&](SchemaId id) { return schemas[id].hasEnum; }))
                return fail(ErrorCode::BadRequest,
                            "'enum' and 'const' of all arguments together are not supported");
            const auto members = values.members(object);
            if (!members)
                continue;
            std::vector<Expression> parts;
            for (const JsonValueRules::Member &member : *members) {
                if (hasSpaceAround(member.key))
                    return fail(ErrorCode::BadRequest,
                                std::format("a parameter's name '{}' is empty or has space around",
                                            printable(member.key)));
                const auto type = readAs.find(member.key);
                const Expression argument = m_builder.sequence(
                    { tag(ToolTag::Key), m_builder.bytes(member.key), tag(ToolTag::EndKey),
                      tag(ToolTag::Value),
                      valueOf(values, member, type == readAs.end() ? "" : type->second),
                      tag(ToolTag::EndValue) });
                parts.push_back(member.isRequired ? argument : m_builder.optional(argument));
            }
            if (members->empty())
                parts.push_back(freeArguments(values, schemas, object));
            ways.push_back(m_builder.sequence(std::move(parts)));
        }
        if (const Result<void> finished = values.finish(); !finished)
            return std::unexpected(finished.error());
        return m_builder.rule(m_builder.choice(std::move(ways)));
    }

    // As OutputParser takes it: a string parameter's text as it is, anything else as JSON.
    Expression valueOf(JsonValueRules &values, const JsonValueRules::Member &member,
                       std::string_view readAs)
    {
        if (readAs == "string" || readAs == "string|null")
            return values.rawString(member.schemas, readAs != "string");
        return values.value(member.schemas);
    }

    // A schema that names no parameter and says that there are some.
    Expression freeArguments(JsonValueRules &values, const JsonSchemas &schemas,
                             const Conjunction &object)
    {
        std::vector<SchemaId> allowed;
        bool namesSome = false;
        for (const SchemaId id : object) {
            namesSome = namesSome || !schemas[id].propertyNames.empty();
            if (schemas[id].additionalProperties)
                allowed.push_back(*schemas[id].additionalProperties);
        }
        if (allowed.empty() || namesSome)
            return m_builder.nothing();
        const Expression key
            = m_strings.texts(StringRules::Style::Raw, textPattern(kFreeKey).value());
        return m_builder.repeat(
            m_builder.sequence({ tag(ToolTag::Key), key, tag(ToolTag::EndKey), tag(ToolTag::Value),
                                 values.value(allowed), tag(ToolTag::EndValue) }),
            0, kMaxFreeArguments);
    }

    GrammarBuilder &m_builder;
    StringRules m_strings;
};

} // namespace

Result<std::shared_ptr<const Grammar>> toolCallGrammar(std::span<const CallableTool> tools,
                                                       bool mayRepeat)
{
    if (tools.empty() || tools.size() > kMaxTools)
        return fail(ErrorCode::BadRequest,
                    std::format("a call needs 1 to {} tools to choose from", kMaxTools));
    GrammarBuilder builder;
    ToolCallRules rules(builder);
    std::set<std::string> names;
    std::vector<Expression> calls;
    for (const CallableTool &tool : tools) {
        if (!names.insert(tool.name).second)
            return fail(ErrorCode::BadRequest,
                        std::format("tool '{}': two tools of this name", printable(tool.name)));
        const Result<Expression> call = rules.call(tool);
        if (!call)
            return std::unexpected(call.error());
        calls.push_back(*call);
    }
    const GrammarBuilder::Rule start = builder.declare();
    const Expression one = builder.rule(builder.choice(std::move(calls)));
    builder.define(start, mayRepeat ? builder.repeat(one, 1, GrammarBuilder::kUnbounded) : one);
    Result<std::shared_ptr<const Grammar>> grammar = builder.build(start);
    if (!grammar)
        return fail(grammar.error().code,
                    std::format("the tools' parameters: {}", grammar.error().message));
    return grammar;
}

} // namespace firesteel::engine
