// SPDX-License-Identifier: MIT
#include "engine/checkpoint/checkpoint.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/config_reader.h"

#include <algorithm>
#include <format>
#include <ranges>
#include <set>
#include <system_error>
#include <utility>

namespace firesteel::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kExtension = ".safetensors";

using WeightMap = std::map<std::string, std::string, std::less<>>; // tensor -> file

// A name in the index must stay inside the folder.
bool isPlainFileName(std::string_view name)
{
    return name.ends_with(kExtension) && name.size() > kExtension.size()
        && std::ranges::none_of(name, [](char character) {
               return character == '/' || character == '\\'
                   || static_cast<unsigned char>(character) < 0x20;
           });
}

Result<WeightMap> parseIndex(const MappedFile &file)
{
    const std::string name = file.path().string();
    const auto problem = [&name](std::string_view what) {
        return fail(ErrorCode::BadCheckpoint, std::format("{}: {}", printable(name), what));
    };
    simdjson::dom::parser parser;
    const std::string_view text(reinterpret_cast<const char *>(file.bytes().data()),
                                file.bytes().size());
    const auto root = parseJsonObject(parser, text, name);
    if (!root)
        return std::unexpected(root.error());
    simdjson::dom::object weights;
    if (root->at_key("weight_map").get(weights) != simdjson::SUCCESS)
        return problem("weight_map is missing or not an object");
    WeightMap map;
    for (const simdjson::dom::key_value_pair field : weights) {
        std::string_view target;
        if (field.value.get(target) != simdjson::SUCCESS)
            return problem(std::format("weight_map.{} is not a file name", printable(field.key)));
        if (!isPlainFileName(target))
            return problem(std::format("weight_map.{} is \"{}\", expected a .safetensors file in "
                                       "the same folder",
                                       printable(field.key), printable(target)));
        if (!map.emplace(field.key, target).second)
            return problem(std::format("weight_map.{} is there twice", printable(field.key)));
    }
    if (map.empty())
        return problem("weight_map is empty");
    return map;
}

} // namespace

Result<Checkpoint> Checkpoint::open(const fs::path &directory)
{
    std::error_code error;
    const fs::file_status status = fs::status(directory, error);
    if (status.type() == fs::file_type::not_found)
        return fail(ErrorCode::NotFound,
                    std::format("{}: no such folder", printable(directory.string())));
    if (status.type() != fs::file_type::directory)
        return fail(ErrorCode::Io,
                    std::format("{}: {}", printable(directory.string()),
                                error ? error.message() : "is not a folder"));

    Checkpoint result(directory);
    auto config = readModelConfig(directory / "config.json");
    if (!config)
        return std::unexpected(std::move(config.error()));
    result.m_config = std::move(*config);

    WeightMap weights;
    std::set<std::string> names;
    const auto index = MappedFile::open(directory / kIndexName);
    if (index) {
        auto parsed = parseIndex(*index);
        if (!parsed)
            return std::unexpected(std::move(parsed.error()));
        weights = std::move(*parsed);
        for (const std::string &name : weights | std::views::values)
            names.insert(name);
    } else if (index.error().code != ErrorCode::NotFound) {
        return std::unexpected(index.error());
    }
    if (!index || result.isExl3()) {
        const auto listed = safeTensorsFiles(directory);
        if (!listed)
            return std::unexpected(listed.error());
        for (const fs::path &file : *listed)
            names.insert(file.filename().string());
    }
    for (const std::string &name : names) {
        if (auto added = result.addFile(directory / name); !added)
            return std::unexpected(std::move(added.error()));
    }
    for (const auto &[tensor, file] : weights) {
        const auto found = result.tensors().find(tensor);
        if (found == result.tensors().end() || found->second.file->filename() != file)
            return fail(ErrorCode::BadCheckpoint,
                        std::format("{}: has no tensor \"{}\", but {} says so",
                                    printable((directory / file).string()), printable(tensor),
                                    kIndexName));
    }
    return result;
}

} // namespace firesteel::engine
