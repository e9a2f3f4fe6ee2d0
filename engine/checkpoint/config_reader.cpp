// SPDX-License-Identifier: MIT
#include "engine/checkpoint/config_reader.h"

#include "engine/base/json_problem.h"
#include "engine/base/printable.h"

#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

std::string shown(simdjson::dom::element value) { return printable(simdjson::minify(value), 60); }

} // namespace

ConfigProblems::ConfigProblems(std::string_view fileName)
    : m_fileName(printable(fileName))
{
}

void ConfigProblems::report(ErrorCode code, std::string_view what)
{
    if (!m_first)
        m_first = Error { code, std::format("{}: {}", m_fileName, what) };
}

ConfigObject::ConfigObject(simdjson::dom::object object, std::string path, ConfigProblems &problems)
    : m_object(object)
    , m_path(std::move(path))
    , m_problems(&problems)
{
    // Readers differ in which of two equal fields they believe, so neither is.
    std::set<std::string_view> seen;
    for (const simdjson::dom::key_value_pair field : m_object) {
        if (!seen.insert(field.key).second)
            m_problems->report(ErrorCode::BadCheckpoint,
                               std::format("{} is there twice", dotted(printable(field.key))));
    }
}

std::string ConfigObject::dotted(std::string_view field) const
{
    return m_path.empty() ? std::string(field) : std::format("{}.{}", m_path, field);
}

std::optional<simdjson::dom::element> ConfigObject::find(std::string_view field)
{
    m_known.emplace(field);
    simdjson::dom::element value;
    if (m_object.at_key(field).get(value) != simdjson::SUCCESS || value.is_null())
        return std::nullopt;
    return value;
}

std::optional<simdjson::dom::element> ConfigObject::required(std::string_view field)
{
    auto value = find(field);
    if (!value)
        reportMissing(field);
    return value;
}

bool ConfigObject::has(std::string_view field) { return find(field).has_value(); }

void ConfigObject::reportMissing(std::string_view field)
{
    m_problems->report(ErrorCode::UnsupportedModel, std::format("{} is missing", dotted(field)));
}

void ConfigObject::reportUnsupported(std::string_view field, std::string_view what)
{
    m_problems->report(ErrorCode::UnsupportedModel, std::format("{} {}", dotted(field), what));
}

void ConfigObject::reportType(std::string_view field, std::string_view expected)
{
    simdjson::dom::element value;
    if (m_object.at_key(field).get(value) == simdjson::SUCCESS)
        m_problems->report(
            ErrorCode::BadCheckpoint,
            std::format("{} is {}, expected {}", dotted(field), shown(value), expected));
}

std::optional<int> ConfigObject::checkedInteger(std::string_view field,
                                                simdjson::dom::element value, IntegerRange range)
{
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) {
        reportType(field, "an integer");
        return std::nullopt;
    }
    if (number < range.min || number > range.max) {
        reportUnsupported(
            field, std::format("is {}, this build takes {} to {}", number, range.min, range.max));
        return std::nullopt;
    }
    if (number % range.multipleOf != 0) {
        reportUnsupported(
            field,
            std::format("is {}, this build takes multiples of {}", number, range.multipleOf));
        return std::nullopt;
    }
    return static_cast<int>(number);
}

int ConfigObject::integer(std::string_view field, IntegerRange range)
{
    const auto value = required(field);
    return value ? checkedInteger(field, *value, range).value_or(range.min) : range.min;
}

float ConfigObject::real(std::string_view field, RealRange range)
{
    const auto value = required(field);
    if (!value)
        return 0;
    double number = 0;
    if (!value->is_number() || value->get(number) != simdjson::SUCCESS) {
        reportType(field, "a number");
        return 0;
    }
    if (!(number >= range.min && number <= range.max))
        reportUnsupported(
            field,
            std::format("is {}, this build takes {} to {}", shown(*value), range.min, range.max));
    return static_cast<float>(number);
}

std::vector<std::string_view> ConfigObject::strings(std::string_view field, std::size_t count)
{
    std::vector<std::string_view> result;
    const auto value = required(field);
    if (!value)
        return result;
    simdjson::dom::array items;
    if (value->get(items) != simdjson::SUCCESS) {
        reportType(field, "a list of strings");
        return result;
    }
    for (const simdjson::dom::element item : items) {
        std::string_view text;
        if (item.get(text) != simdjson::SUCCESS) {
            reportType(field, "a list of strings");
            return {};
        }
        result.push_back(text);
    }
    if (result.size() != count) {
        m_problems->report(
            ErrorCode::BadCheckpoint,
            std::format("{} has {} entries, expected {}", dotted(field), result.size(), count));
        return {};
    }
    return result;
}

std::vector<std::int32_t> ConfigObject::integers(std::string_view field, IntegerRange range,
                                                 std::size_t maxCount)
{
    std::vector<std::int32_t> result;
    const auto value = required(field);
    if (!value)
        return result;
    simdjson::dom::array items;
    if (value->get(items) != simdjson::SUCCESS) {
        if (const auto number = checkedInteger(field, *value, range))
            result.push_back(*number);
        return result;
    }
    for (const simdjson::dom::element item : items) {
        const auto number = checkedInteger(field, item, range);
        if (!number)
            return {};
        if (result.size() == maxCount) {
            reportUnsupported(field, std::format("has more than {} entries", maxCount));
            return {};
        }
        result.push_back(*number);
    }
    return result;
}

std::optional<ConfigObject> ConfigObject::object(std::string_view field)
{
    const auto value = required(field);
    simdjson::dom::object object;
    if (!value)
        return std::nullopt;
    if (value->get(object) != simdjson::SUCCESS) {
        reportType(field, "an object");
        return std::nullopt;
    }
    return ConfigObject(object, dotted(field), *m_problems);
}

std::optional<std::string_view> ConfigObject::text(std::string_view field)
{
    const auto value = find(field);
    std::string_view result;
    if (!value || value->get(result) != simdjson::SUCCESS)
        return std::nullopt;
    return result;
}

void ConfigObject::reportUnless(std::string_view field, std::string_view value,
                                std::string_view actual)
{
    if (actual != value)
        reportUnsupported(field, std::format("is {}, this build implements {}", actual, value));
}

void ConfigObject::expectFlag(std::string_view field, bool value)
{
    const auto actual = required(field);
    if (!actual)
        return;
    if (!actual->is_bool())
        return reportType(field, "true or false");
    reportUnless(field, value ? "true" : "false", shown(*actual));
}

void ConfigObject::expectInteger(std::string_view field, int value)
{
    const auto actual = required(field);
    if (!actual)
        return;
    if (!actual->is_int64())
        return reportType(field, "an integer");
    reportUnless(field, std::to_string(value), shown(*actual));
}

void ConfigObject::expectText(std::string_view field, std::string_view value)
{
    const auto actual = required(field);
    if (!actual)
        return;
    if (!actual->is_string())
        return reportType(field, "a string");
    reportUnless(field, std::format("\"{}\"", value), shown(*actual));
}

void ConfigObject::ignore(std::initializer_list<std::string_view> fields)
{
    for (const std::string_view field : fields)
        m_known.emplace(field);
}

void ConfigObject::appendUnknown(std::vector<std::string> &fields) const
{
    for (const simdjson::dom::key_value_pair field : m_object) {
        if (!m_known.contains(field.key))
            fields.push_back(dotted(printable(field.key)));
    }
}

Result<MappedFile> openConfig(const std::filesystem::path &configJson)
{
    constexpr std::size_t kMaxBytes = 16U << 20U; // the released file has 6 KB
    auto file = MappedFile::open(configJson);
    if (file && file->bytes().size() > kMaxBytes)
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: has {} bytes; no config is that large",
                                printable(configJson.string()), file->bytes().size()));
    return file;
}

std::string_view textOf(const MappedFile &file)
{
    return { reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size() };
}

Result<simdjson::dom::object> parseJsonObject(simdjson::dom::parser &parser, std::string_view json,
                                              std::string_view fileName)
{
    simdjson::dom::element root;
    // Not for an empty text: simdjson copies from the pointer, which may be null then.
    const auto error
        = json.empty() ? simdjson::EMPTY : parser.parse(json.data(), json.size(), true).get(root);
    if (error != simdjson::SUCCESS)
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: {}", printable(fileName), jsonProblem(error)));
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS)
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: not a JSON object", printable(fileName)));
    return object;
}

} // namespace firesteel::engine
