// SPDX-License-Identifier: MIT
#include "engine/grammar/regex_parser.h"

#include "engine/grammar/text_automaton.h"

#include <format>
#include <optional>
#include <string>
#include <utility>

namespace firesteel::engine {

namespace {

using Kind = Regex::Kind;

const CodePoints &digits()
{
    static const CodePoints set { { '0', '9' } };
    return set;
}

const CodePoints &wordCharacters()
{
    static const CodePoints set { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } };
    return set;
}

// ECMA-262: WhiteSpace and LineTerminator
const CodePoints &spaces()
{
    static const CodePoints set { { 0x09, 0x0D },     { 0x20, 0x20 },     { 0xA0, 0xA0 },
                                  { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 },
                                  { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 },
                                  { 0xFEFF, 0xFEFF } };
    return set;
}

const CodePoints &lineEnds()
{
    static const CodePoints set { { '\n', '\n' }, { '\r', '\r' }, { 0x2028, 0x2029 } };
    return set;
}

Regex characters(CodePoints set)
{
    return { .kind = Kind::Characters, .characters = std::move(set) };
}

class Parser
{
public:
    explicit Parser(std::string_view pattern)
        : m_text(codePointsOf(pattern))
    {
    }

    Result<Regex> parse()
    {
        Regex regex = alternatives();
        if (m_error.empty() && m_at < m_text.size())
            refuse("')' without '('");
        if (!m_error.empty())
            return fail(ErrorCode::BadRequest, m_error);
        return regex;
    }

private:
    bool atEnd() const { return m_at >= m_text.size() || !m_error.empty(); }
    bool take(std::u32string_view wanted)
    {
        if (!std::u32string_view(m_text).substr(std::min(m_at, m_text.size())).starts_with(wanted))
            return false;
        m_at += wanted.size();
        return true;
    }
    void refuse(std::string_view what)
    {
        if (m_error.empty())
            m_error = std::format("{} at character {}", what, m_at);
    }

    Regex alternatives()
    {
        if (++m_nesting > Regex::kMaxNesting)
            refuse(std::format("groups nested deeper than {}", Regex::kMaxNesting));
        Regex regex { .kind = Kind::Alternatives };
        do
            regex.parts.push_back(sequence());
        while (!atEnd() && take(U"|"));
        --m_nesting;
        return regex.parts.size() == 1 ? std::move(regex.parts.front()) : std::move(regex);
    }

    Regex sequence()
    {
        Regex regex;
        while (!atEnd() && m_text[m_at] != '|' && m_text[m_at] != ')')
            regex.parts.push_back(quantified());
        return regex;
    }

    Regex quantified()
    {
        Regex part = atom();
        const bool isAnchor = part.kind == Kind::Begin || part.kind == Kind::End;
        const std::size_t before = m_at;
        std::optional<std::pair<std::size_t, std::size_t>> count = quantifier();
        if (!count)
            return part;
        if (isAnchor) {
            m_at = before;
            refuse("a quantifier behind an anchor");
        }
        take(U"?"); // lazy: the same texts
        Regex regex { .kind = Kind::Repeat, .min = count->first, .max = count->second };
        regex.parts.push_back(std::move(part));
        return regex;
    }

    std::optional<std::pair<std::size_t, std::size_t>> quantifier()
    {
        if (atEnd())
            return {};
        if (take(U"*"))
            return { { 0, Regex::kUnbounded } };
        if (take(U"+"))
            return { { 1, Regex::kUnbounded } };
        if (take(U"?"))
            return { { 0, 1 } };
        if (!take(U"{"))
            return {};
        const std::optional<std::size_t> min = number();
        std::optional<std::size_t> max = min;
        if (min && take(U",")) {
            const bool isOpen = m_at < m_text.size() && m_text[m_at] == '}';
            max = isOpen ? Regex::kUnbounded : number();
        }
        if (!min || !max || !take(U"}"))
            refuse("a '{' that begins no quantifier");
        else if (*max < *min)
            refuse("a quantifier whose maximum is below its minimum");
        return { { min.value_or(0), max.value_or(0) } };
    }

    std::optional<std::size_t> number()
    {
        std::optional<std::size_t> value;
        while (m_at < m_text.size() && contains(digits(), m_text[m_at])) {
            value = value.value_or(0) * 10 + (m_text[m_at++] - U'0');
            if (*value > Regex::kMaxCount) {
                refuse(std::format("a count above {}", Regex::kMaxCount));
                return {};
            }
        }
        return value;
    }

    Regex atom()
    {
        const char32_t c = m_text[m_at];
        switch (c) {
        case '^':
            ++m_at;
            return { .kind = Kind::Begin };
        case '$':
            ++m_at;
            return { .kind = Kind::End };
        case '.':
            ++m_at;
            return characters(complement(lineEnds()));
        case '(':
            return group();
        case '[':
            return bracket();
        case '\\':
            return characters(escape(false));
        case '*':
        case '+':
        case '?':
        case '{':
            refuse("a quantifier with nothing before it");
            return {};
        case ']':
        case '}':
            refuse(c == ']' ? "']' without '['" : "'}' without '{'");
            return {};
        default:
            ++m_at;
            return characters({ { c, c } });
        }
    }

    Regex group()
    {
        if (take(U"(?:")) {
        } else if (take(U"(?=") || take(U"(?!")) {
            refuse("a lookahead is not supported,");
        } else if (take(U"(?<=") || take(U"(?<!")) {
            refuse("a lookbehind is not supported,");
        } else if (take(U"(?<")) {
            while (!atEnd() && contains(wordCharacters(), m_text[m_at]))
                ++m_at;
            if (!take(U">"))
                refuse("a group name that does not end");
        } else if (take(U"(?")) {
            refuse("a group of a kind that is not supported,");
        } else {
            take(U"(");
        }
        if (atEnd()) {
            refuse("a group that does not end");
            return {};
        }
        Regex inner = alternatives();
        if (!take(U")"))
            refuse("a group that does not end");
        return inner;
    }

    Regex bracket()
    {
        take(U"[");
        const bool isNegated = take(U"^");
        std::vector<CodePointRange> ranges;
        while (!atEnd() && m_text[m_at] != ']') {
            const CodePoints first = bracketItem();
            const bool isRange
                = m_at + 1 < m_text.size() && m_text[m_at] == '-' && m_text[m_at + 1] != ']';
            if (!isRange) {
                ranges.insert(ranges.end(), first.begin(), first.end());
                continue;
            }
            take(U"-");
            const CodePoints last = bracketItem();
            if (!isSingle(first) || !isSingle(last) || last.front().first < first.front().first)
                refuse("a range that has no order in a character class,");
            else
                ranges.push_back({ first.front().first, last.front().first });
        }
        if (!take(U"]"))
            refuse("a character class that does not end");
        CodePoints set = makeCodePoints(std::move(ranges));
        return characters(isNegated ? complement(set) : std::move(set));
    }

    static bool isSingle(const CodePoints &set)
    {
        return set.size() == 1 && set.front().first == set.front().last;
    }

    CodePoints bracketItem()
    {
        if (m_text[m_at] == '\\')
            return escape(true);
        const char32_t c = m_text[m_at++];
        return { { c, c } };
    }

    CodePoints escape(bool isInClass)
    {
        take(U"\\");
        if (atEnd()) {
            refuse("a '\\' at the end");
            return {};
        }
        const char32_t c = m_text[m_at++];
        switch (c) {
        case 'd':
            return digits();
        case 'D':
            return complement(digits());
        case 'w':
            return wordCharacters();
        case 'W':
            return complement(wordCharacters());
        case 's':
            return spaces();
        case 'S':
            return complement(spaces());
        case 't':
            return { { '\t', '\t' } };
        case 'n':
            return { { '\n', '\n' } };
        case 'v':
            return { { '\v', '\v' } };
        case 'f':
            return { { '\f', '\f' } };
        case 'r':
            return { { '\r', '\r' } };
        case 'c':
            return controlEscape();
        case 'x':
            return hexEscape(2);
        case 'u':
            return unicodeEscape();
        default:
            break;
        }
        if (c == '0' && (m_at >= m_text.size() || !contains(digits(), m_text[m_at])))
            return { { 0, 0 } };
        if (c == 'b' && isInClass)
            return { { '\b', '\b' } };
        if (contains(wordCharacters(), c)) {
            --m_at;
            refuseLetter(c);
            return {};
        }
        return { { c, c } };
    }

    void refuseLetter(char32_t c)
    {
        if (c == 'b' || c == 'B')
            refuse("a word boundary is not supported,");
        else if (c == 'p' || c == 'P')
            refuse("a Unicode property is not supported,");
        else if (c == 'k' || contains(digits(), c))
            refuse("a reference backwards is not supported,");
        else
            refuse("an escape that is not known");
    }

    CodePoints controlEscape()
    {
        const char32_t letter = m_at < m_text.size() ? m_text[m_at] & ~0x20U : 0;
        if (letter < 'A' || letter > 'Z') {
            refuse("a '\\c' without a letter");
            return {};
        }
        ++m_at;
        return { { letter & 0x1FU, letter & 0x1FU } };
    }

    CodePoints hexEscape(std::size_t count)
    {
        const std::optional<char32_t> value = hex(count);
        if (!value)
            refuse("an escape without its hexadecimal digits");
        return { { value.value_or(0), value.value_or(0) } };
    }

    CodePoints unicodeEscape()
    {
        std::optional<char32_t> value;
        if (take(U"{")) {
            std::size_t length = 0;
            while (m_at + length < m_text.size() && m_text[m_at + length] != '}' && length < 8)
                ++length;
            value = length > 0 ? hex(length) : std::nullopt;
            if (!take(U"}"))
                value.reset();
        } else {
            value = hex(4);
            if (value && *value >= 0xD800 && *value < 0xDC00 && take(U"\\u")) {
                const std::optional<char32_t> low = hex(4);
                if (low && *low >= 0xDC00 && *low < 0xE000)
                    value = 0x10000 + ((*value - 0xD800) << 10U) + (*low - 0xDC00);
            }
        }
        if (!value || *value > kLastCodePoint || (*value >= 0xD800 && *value < 0xE000)) {
            refuse("an escape of no Unicode character");
            return {};
        }
        return { { *value, *value } };
    }

    std::optional<char32_t> hex(std::size_t count)
    {
        char32_t value = 0;
        for (std::size_t i = 0; i < count; ++i, ++m_at) {
            const char32_t c = m_at < m_text.size() ? m_text[m_at] : U' ';
            const char32_t lower = c | 0x20U;
            if (contains(digits(), c))
                value = value * 16 + (c - U'0');
            else if (lower >= 'a' && lower <= 'f')
                value = value * 16 + (lower - U'a' + 10);
            else
                return {};
        }
        return value;
    }

    std::u32string m_text;
    std::size_t m_at = 0;
    std::size_t m_nesting = 0;
    std::string m_error;
};

} // namespace

Result<Regex> parseRegex(std::string_view pattern)
{
    if (pattern.size() > Regex::kMaxLength)
        return fail(ErrorCode::BadRequest, std::format("longer than {} bytes", Regex::kMaxLength));
    return Parser(pattern).parse();
}

} // namespace firesteel::engine
