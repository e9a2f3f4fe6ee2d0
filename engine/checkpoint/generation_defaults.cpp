// SPDX-License-Identifier: MIT
#include "engine/base/mapped_file.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/config_reader.h"

namespace firesteel::engine {

namespace {

GenerationDefaults readFields(ConfigObject &config)
{
    GenerationDefaults defaults;
    const auto read = [&config](std::string_view field, RealRange range, float &value) {
        if (config.has(field))
            value = config.real(field, range);
    };
    read("temperature", { .min = 0, .max = 100 }, defaults.temperature);
    read("top_p", { .min = 1e-6, .max = 1 }, defaults.topP);
    read("min_p", { .min = 0, .max = 1 }, defaults.minP);
    read("repetition_penalty", { .min = 1e-3, .max = 1000 }, defaults.repetitionPenalty);
    if (config.has("top_k"))
        defaults.topK = config.integer("top_k", {});
    if (config.has("eos_token_id"))
        defaults.eosTokenIds = config.integers("eos_token_id", {}, 64);
    return defaults;
}

} // namespace

Result<GenerationDefaults> readGenerationDefaults(const std::filesystem::path &directory)
{
    const std::filesystem::path path = directory / "generation_config.json";
    const auto file = MappedFile::open(path);
    if (!file && file.error().code == ErrorCode::NotFound)
        return GenerationDefaults {};
    if (!file)
        return std::unexpected(file.error());
    simdjson::dom::parser parser;
    const std::string_view text(reinterpret_cast<const char *>(file->bytes().data()),
                                file->bytes().size());
    const auto root = parseJsonObject(parser, text, path.string());
    if (!root)
        return std::unexpected(root.error());
    ConfigProblems problems(path.string());
    ConfigObject config(*root, "", problems);
    GenerationDefaults defaults = readFields(config);
    if (const auto &problem = problems.first()) // whatever it is, another kernel would not help
        return fail(ErrorCode::BadCheckpoint, problem->message);
    return defaults;
}

} // namespace firesteel::engine
