// SPDX-License-Identifier: MIT
#include "engine/text/prompt_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <format>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

namespace firesteel::engine {

namespace {

using Kind = PromptJson::Kind;

constexpr std::size_t kMaxDepth = 256; // bounds the recursion of whoever walks a value

// Python's repr(float): the shortest digits that read back equal, an exponent below 1e-4 and from
// 1e16 on.
std::string spellFloat(double value)
{
    std::array<char, 32> buffer {};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::scientific)
                         .ptr;
    // -d.ddde-XX, at least two digits of exponent like Python's
    std::string scientific(buffer.data(), end);
    const std::size_t e = scientific.find('e');
    const int exponent = std::stoi(scientific.substr(e + 1));
    if (exponent < -4 || exponent >= 16)
        return scientific;
    const std::string sign = scientific.front() == '-' ? "-" : "";
    std::string digits;
    for (const char c : scientific.substr(sign.size(), e - sign.size())) {
        if (c != '.')
            digits += c;
    }
    if (exponent < 0)
        return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
    digits.resize(std::max(digits.size(), whole + 1), '0');
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// nlohmann's own values would round integers beyond 64 bits and forget how a float was spelt.
class Builder : public nlohmann::json_sax<nlohmann::json>
{
public:
    PromptJson root;
    std::string error;

    bool null() override { return put({ Kind::Null, "null", {}, {} }); }
    bool boolean(bool value) override
    {
        return put({ Kind::Boolean, value ? "true" : "false", {}, {} });
    }
    bool number_integer(number_integer_t value) override
    {
        return put({ Kind::Number, std::to_string(value), {}, {} });
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        return put({ Kind::Number, std::to_string(value), {}, {} });
    }
    bool number_float(number_float_t value, const string_t &source) override
    {
        const bool isBigInteger = source.find_first_of(".eE") == std::string::npos;
        return put({ Kind::Number, isBigInteger ? source : spellFloat(value), {}, {} });
    }
    bool string(string_t &value) override
    {
        return put({ Kind::String, std::move(value), {}, {} });
    }
    bool binary(binary_t & /*value*/) override { return false; }
    bool start_object(std::size_t /*size*/) override { return open(Kind::Object); }
    bool start_array(std::size_t /*size*/) override { return open(Kind::Array); }
    bool key(string_t &value) override
    {
        m_open.back().keys.push_back(std::move(value));
        return true;
    }
    bool end_array() override { return close(); }
    bool end_object() override
    {
        dropRepeatedKeys(m_open.back());
        return close();
    }
    bool parse_error(std::size_t position, const std::string & /*token*/,
                     const nlohmann::detail::exception & /*e*/) override
    {
        error = std::format("not JSON, at byte {}", position);
        return false;
    }

private:
    bool put(PromptJson value)
    {
        (m_open.empty() ? root : m_open.back().items.emplace_back()) = std::move(value);
        return true;
    }
    bool open(Kind kind)
    {
        if (m_open.size() == kMaxDepth) {
            error = std::format("nested deeper than {} levels", kMaxDepth);
            return false;
        }
        m_open.push_back({ kind, "", {}, {} });
        return true;
    }
    bool close()
    {
        PromptJson value = std::move(m_open.back());
        m_open.pop_back();
        return put(std::move(value));
    }
    // A repeated key keeps its first place and takes its last value.
    static void dropRepeatedKeys(PromptJson &object)
    {
        std::unordered_map<std::string, std::size_t> places;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < object.items.size(); ++i) {
            const auto [place, isNew] = places.try_emplace(object.keys[i], kept);
            if (place->second != i)
                object.items[place->second] = std::move(object.items[i]);
            if (isNew)
                object.keys[kept++] = place->first;
        }
        object.keys.resize(kept);
        object.items.resize(kept);
    }

    std::vector<PromptJson> m_open;
};

void appendString(std::string &out, std::string_view text)
{
    constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b";
    constexpr std::string_view kLetters = "\"\\nrtfb";
    out += '"';
    for (const char c : text) {
        if (const std::size_t i = kEscaped.find(c); i != std::string_view::npos)
            (out += '\\') += kLetters[i];
        else if (static_cast<unsigned char>(c) < 0x20)
            out += std::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    out += '"';
}

void appendValue(std::string &out, const PromptJson &value)
{
    if (value.kind == Kind::String) {
        appendString(out, value.text);
        return;
    }
    if (value.kind != Kind::Array && value.kind != Kind::Object) {
        out += value.text;
        return;
    }
    const bool isObject = value.kind == Kind::Object;
    out += isObject ? '{' : '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0)
            out += ", ";
        if (isObject) {
            appendString(out, value.keys[i]);
            out += ": ";
        }
        appendValue(out, value.items[i]);
    }
    out += isObject ? '}' : ']';
}

} // namespace

const PromptJson *PromptJson::find(std::string_view key) const
{
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == key)
            return &items[i];
    }
    return nullptr;
}

bool PromptJson::isTruthy() const
{
    switch (kind) {
    case Kind::Null:
        return false;
    case Kind::Boolean:
        return text == "true";
    case Kind::Number:
        return text != "0" && text != "0.0" && text != "-0.0";
    case Kind::String:
        return !text.empty();
    case Kind::Array:
    case Kind::Object:
        break;
    }
    return !items.empty();
}

Result<PromptJson> parsePromptJson(std::string_view json, std::string_view what)
{
    Builder builder;
    if (!nlohmann::json::sax_parse(json.begin(), json.end(), &builder))
        return fail(ErrorCode::BadRequest, std::format("{}: {}", what, builder.error));
    return std::move(builder.root);
}

std::string dumpPromptJson(const PromptJson &value)
{
    std::string out;
    appendValue(out, value);
    return out;
}

} // namespace firesteel::engine
