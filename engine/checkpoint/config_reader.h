// SPDX-License-Identifier: MIT
//
// Checked reading of a JSON object's fields, for config.json and generation_config.json. The first
// problem is kept and the reader goes on with harmless values, so that a parser is a plain list of
// fields and asks once, at its end.
#pragma once

#include "engine/api/error.h"
#include "engine/base/mapped_file.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

// What is wrong first, if anything. One per document.
class ConfigProblems
{
public:
    explicit ConfigProblems(std::string_view fileName);
    void report(ErrorCode code, std::string_view what); // only the first is kept
    const std::optional<Error> &first() const { return m_first; }

private:
    std::string m_fileName;
    std::optional<Error> m_first;
};

struct IntegerRange
{
    int min = 0;
    int max = std::numeric_limits<int>::max();
    int multipleOf = 1;
};

struct RealRange
{
    double min = 0;
    double max = 0;
};

class ConfigObject
{
public:
    // `path` is the dotted name in front of the fields: "" for the document, "text_config" below.
    ConfigObject(simdjson::dom::object object, std::string path, ConfigProblems &problems);

    bool has(std::string_view field); // present and not null

    // Required fields. Absent or outside of what this build implements: UnsupportedModel; wrong
    // type: BadCheckpoint.
    int integer(std::string_view field, IntegerRange range);
    float real(std::string_view field, RealRange range);
    std::vector<std::string_view> strings(std::string_view field, std::size_t count);
    std::vector<std::int32_t> integers(std::string_view field, IntegerRange range,
                                       std::size_t maxCount); // one number is a list of one
    std::optional<ConfigObject> object(std::string_view field);

    std::optional<std::string_view> text(std::string_view field); // absent or not a string: nothing

    // Required, with the only value this build implements.
    void expectFlag(std::string_view field, bool value);
    void expectInteger(std::string_view field, int value);
    void expectText(std::string_view field, std::string_view value);

    // Present or not, null included; never looked at.
    void ignore(std::initializer_list<std::string_view> fields);

    void reportMissing(std::string_view field);
    void reportUnsupported(std::string_view field, std::string_view what);
    std::string dotted(std::string_view field) const;

    // Fields nobody asked for, as dotted paths.
    void appendUnknown(std::vector<std::string> &fields) const;

private:
    std::optional<simdjson::dom::element> find(std::string_view field); // marks it as known
    std::optional<simdjson::dom::element> required(std::string_view field);
    void reportType(std::string_view field, std::string_view expected);
    void reportUnless(std::string_view field, std::string_view value, std::string_view actual);
    std::optional<int> checkedInteger(std::string_view field, simdjson::dom::element value,
                                      IntegerRange range);

    simdjson::dom::object m_object;
    std::string m_path;
    ConfigProblems *m_problems;
    std::set<std::string, std::less<>> m_known;
};

// A config file of a model folder. Errors: as MappedFile::open; BadCheckpoint (far too large).
Result<MappedFile> openConfig(const std::filesystem::path &configJson);
std::string_view textOf(const MappedFile &file);

// Parses `json` with `parser`, which owns the result. Errors: BadCheckpoint.
Result<simdjson::dom::object> parseJsonObject(simdjson::dom::parser &parser, std::string_view json,
                                              std::string_view fileName);

} // namespace firesteel::engine
