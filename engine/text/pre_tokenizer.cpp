// SPDX-License-Identifier: MIT
#include "engine/text/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>
#include <array>
#include <format>
#include <limits>
#include <pcre2.h>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::size_t kMaxPatternBytes = 16384; // the released one has 135
constexpr std::size_t kJitStackStart = 32U << 10;
constexpr std::size_t kJitStackLimit = 1U << 20;

struct Free
{
    void operator()(pcre2_code *code) const { pcre2_code_free(code); }
    void operator()(pcre2_compile_context *context) const { pcre2_compile_context_free(context); }
    void operator()(pcre2_match_context *context) const { pcre2_match_context_free(context); }
    void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_jit_stack *stack) const { pcre2_jit_stack_free(stack); }
};

std::string messageOf(int error)
{
    std::array<PCRE2_UCHAR, 256> text {};
    pcre2_get_error_message(error, text.data(), text.size());
    return reinterpret_cast<const char *>(text.data());
}

// PCRE2 takes U+180E for a space (\s, \h) as Unicode did before version 6.3; the reference does
// not. The pattern is shown a character of the same size and of the category that U+180E has today
// (Cf).
constexpr std::string_view kVowelSeparator = "\xE1\xA0\x8E"; // U+180E
constexpr std::string_view kZeroWidthSpace
    = "\xE2\x80\x8B"; // U+200B, not a space in Unicode's terms

} // namespace

struct PreTokenizer::Code
{
    std::unique_ptr<pcre2_code, Free> code;
};

struct PreTokenizer::Walk::Match
{
    std::unique_ptr<pcre2_match_context, Free> context { pcre2_match_context_create(nullptr) };
    std::unique_ptr<pcre2_jit_stack, Free> stack { pcre2_jit_stack_create(
        kJitStackStart, kJitStackLimit, nullptr) };
    std::unique_ptr<pcre2_match_data, Free> data;
};

Result<PreTokenizer> PreTokenizer::compile(std::string_view pattern, std::string_view where)
{
    const auto bad = [where](std::string_view why) {
        return fail(ErrorCode::BadCheckpoint, std::format("{}: {}", where, why));
    };
    if (pattern.size() > kMaxPatternBytes)
        return bad(std::format("the pattern is longer than {} bytes", kMaxPatternBytes));

    const std::unique_ptr<pcre2_compile_context, Free> context(
        pcre2_compile_context_create(nullptr));
    int error = 0;
    PCRE2_SIZE offset = 0;
    std::unique_ptr<pcre2_code, Free> code(pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
        PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, context.get()));
    if (code == nullptr)
        return bad(
            std::format("not a regular expression: {} at byte {}", messageOf(error), offset));
    std::uint32_t matchesEmpty = 0;
    pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &matchesEmpty);
    if (matchesEmpty != 0)
        return bad("the pattern must not match the empty string");
    // Without JIT (a hardened system may forbid executable memory) the interpreter gives the same
    // result, more slowly.
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    return PreTokenizer(std::make_unique<const Code>(std::move(code)));
}

PreTokenizer::PreTokenizer(std::unique_ptr<const Code> code)
    : m_code(std::move(code))
{
}

PreTokenizer::PreTokenizer(PreTokenizer &&) noexcept = default;
PreTokenizer &PreTokenizer::operator=(PreTokenizer &&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

PreTokenizer::Walk::Walk(const PreTokenizer &preTokenizer)
    : m_preTokenizer(preTokenizer)
    , m_match(std::make_unique<Match>())
{
    m_match->data.reset(
        pcre2_match_data_create_from_pattern(preTokenizer.m_code->code.get(), nullptr));
    pcre2_jit_stack_assign(m_match->context.get(), nullptr, m_match->stack.get());
}

PreTokenizer::Walk::~Walk() = default;

void PreTokenizer::Walk::start(std::string_view text)
{
    m_text = text;
    m_subject = text;
    if (text.find(kVowelSeparator) != std::string_view::npos) {
        m_shadow = text;
        for (std::size_t at = 0; (at = m_shadow.find(kVowelSeparator, at)) != std::string::npos;)
            m_shadow.replace(at, kVowelSeparator.size(), kZeroWidthSpace);
        m_subject = m_shadow;
    }
    m_position = 0;
    m_matchBegin = 0;
    m_matchEnd = 0;
    // A run of white space is scanned back one character at a time, each counting as a step: the
    // limit grows with the text, so that only a pattern with runaway backtracking meets it.
    constexpr std::size_t kMaxLimit = std::numeric_limits<std::uint32_t>::max();
    const std::size_t limit = std::min(kMaxLimit, 1'000'000 + 8 * text.size());
    pcre2_set_match_limit(m_match->context.get(), static_cast<std::uint32_t>(limit));
}

std::string_view PreTokenizer::Walk::next()
{
    if (m_position == m_text.size())
        return {};
    if (m_position == m_matchEnd)
        findMatch();
    const std::size_t begin = m_position;
    m_position = begin < m_matchBegin ? m_matchBegin : m_matchEnd;
    return m_text.substr(begin, m_position - begin);
}

// Sets the match at or after m_position. Where there is none, or a pattern exceeds PCRE2's limits,
// the rest of the text is one piece.
void PreTokenizer::Walk::findMatch()
{
    const int count
        = pcre2_match(m_preTokenizer.m_code->code.get(),
                      reinterpret_cast<PCRE2_SPTR>(m_subject.data()), m_subject.size(), m_position,
                      PCRE2_NO_UTF_CHECK, m_match->data.get(), m_match->context.get());
    const PCRE2_SIZE *const bounds = pcre2_get_ovector_pointer(m_match->data.get());
    if (count > 0 && bounds[0] >= m_position && bounds[1] > bounds[0]) {
        m_matchBegin = bounds[0];
        m_matchEnd = bounds[1];
    } else {
        m_matchBegin = m_position;
        m_matchEnd = m_text.size();
    }
}

} // namespace firesteel::engine
