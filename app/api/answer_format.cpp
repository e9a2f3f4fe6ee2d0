// SPDX-License-Identifier: MIT
#include "app/api/answer_format.h"

#include <format>

namespace firesteel::app {

namespace {

using Kind = engine::AnswerFormat::Kind;

std::string nameOf(const engine::Tool &tool)
{
    const Json name = Json::parse(tool.json).at("function").value("name", Json());
    return name.is_string() ? name.get<std::string>() : std::string();
}

} // namespace

void readFormat(const Json &format, const std::string &path, std::string_view schemaHolder,
                ApiRequest &request, Problem &problem)
{
    Fields fields(format, path, problem);
    engine::AnswerFormat &wanted = request.generation.format;
    const bool isCall = wanted.kind == Kind::ToolCalls;
    const std::string type = fields.string("type").value_or("");
    if (type == "text")
        return;
    if (type == "json_object") {
        wanted.kind = isCall ? wanted.kind : Kind::JsonObject;
        return;
    }
    if (type != "json_schema") {
        problem.report(badRequest(
            fields.pathOf("type"),
            std::format("{} must be text, json_object or json_schema.", fields.pathOf("type"))));
        return;
    }
    const Json *holder = schemaHolder.empty() ? &format : fields.object(schemaHolder);
    const std::string place = schemaHolder.empty() ? path : fields.pathOf(schemaHolder);
    const Json *schema
        = holder != nullptr && holder->contains("schema") ? &holder->at("schema") : nullptr;
    if (schema == nullptr || !(schema->is_object() || schema->is_boolean())) {
        problem.report(
            badRequest(place + ".schema", std::format("{}.schema must be a JSON Schema.", place)));
        return;
    }
    wanted.kind = isCall ? wanted.kind : Kind::JsonSchema;
    wanted.schema = toText(*schema);
}

void forceCall(const std::optional<std::string> &name, const std::string &path, ApiRequest &request,
               Problem &problem)
{
    engine::AnswerFormat &wanted = request.generation.format;
    wanted.kind = Kind::ToolCalls;
    wanted.tools.clear();
    for (const engine::Tool &tool : request.tools) {
        if (!name || nameOf(tool) == *name)
            wanted.tools.push_back(tool);
    }
    if (wanted.tools.empty())
        problem.report(badRequest(
            path,
            name ? std::format("{} names \"{}\", which is none of the tools.", path, *name)
                 : std::format("{} asks for a call without tools.", path)));
}

void completeFormat(ApiRequest &request)
{
    engine::AnswerFormat &wanted = request.generation.format;
    wanted.allowsParallelCalls = request.allowsParallelCalls;
    wanted.mayCallInstead = !request.tools.empty();
}

} // namespace firesteel::app
