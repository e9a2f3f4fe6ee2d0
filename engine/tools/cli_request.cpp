// SPDX-License-Identifier: MIT
#include "engine/tools/cli_request.h"

#include "engine/tools/cli_terminal.h"

#include <format>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

namespace firesteel::engine {

int reportError(const Error &error)
{
    writeErrorLine(error.message);
    return error.code == ErrorCode::BadRequest ? kExitUsage : kExitFailure;
}

Result<ModelInfo> loadModel(CliSession &session, const CliOptions &options)
{
    LoadOptions load;
    load.modelDirectory = options.model;
    load.drafterDirectory = options.drafterModel;
    load.contextTokens = options.contextTokens;
    load.threads = options.threads;
    load.processor = options.processor;
    return session.load(load);
}

namespace {

Result<std::string> readText(const std::filesystem::path &file)
{
    std::ifstream stream(file);
    if (!stream)
        return fail(ErrorCode::NotFound, std::format("{}: cannot be opened", file.string()));
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

} // namespace

Result<std::vector<Tool>> readTools(const std::filesystem::path &file)
{
    std::vector<Tool> tools;
    if (file.empty())
        return tools;
    const auto text = readText(file);
    if (!text)
        return std::unexpected(text.error());
    // Ordered: the model sees the keys in the order of the file.
    const auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
    if (!json.is_array())
        return fail(ErrorCode::BadRequest,
                    std::format("{}: not a JSON array of functions", file.string()));
    for (const auto &tool : json)
        tools.push_back(
            { tool.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) });
    return tools;
}

std::uint64_t chosenSeed(const CliOptions &options)
{
    if (options.seed)
        return *options.seed;
    // 53 bits: JSON readers that hold numbers as doubles give it back unchanged.
    std::random_device device;
    return ((static_cast<std::uint64_t>(device()) << 32) | device()) >> 11;
}

Result<GenerationRequest> makeRequest(const Engine &engine, const CliOptions &options,
                                      const ModelInfo &info, std::span<const Message> messages,
                                      std::span<const Tool> tools, std::uint64_t seed)
{
    auto prompt = engine.prepare(messages, tools, options.promptOptions);
    if (!prompt)
        return std::unexpected(prompt.error());
    GenerationRequest request;
    request.prompt = std::move(*prompt);
    request.sampling = samplingOf(options, info.samplingDefaults);
    request.sampling.seed = seed;
    request.maxTokens = options.maxTokens;
    request.stop = options.stop;
    request.drafting = options.drafting;
    if (!options.schemaFile.empty()) {
        auto schema = readText(options.schemaFile);
        if (!schema)
            return std::unexpected(schema.error());
        request.format.kind = AnswerFormat::Kind::JsonSchema;
        request.format.schema = std::move(*schema);
        request.format.mayCallInstead = !tools.empty();
    }
    return request;
}

} // namespace firesteel::engine
