// SPDX-License-Identifier: MIT
//
// Cuts text into pre-tokens, the pieces within which merges happen: every match of the tokenizer
// file's pattern and every stretch between two matches. PCRE2 with JIT where the system allows it.
#pragma once

#include "engine/api/error.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace firesteel::engine {

class PreTokenizer
{
public:
    // Errors: BadCheckpoint, "<where>: why". `where` names file and field.
    static Result<PreTokenizer> compile(std::string_view pattern, std::string_view where);

    PreTokenizer(PreTokenizer &&) noexcept;
    PreTokenizer &operator=(PreTokenizer &&) noexcept;
    ~PreTokenizer();

    // One thread's pass over one text after another.
    class Walk
    {
    public:
        explicit Walk(const PreTokenizer &preTokenizer); // must outlive the walk
        Walk(const Walk &) = delete;
        Walk &operator=(const Walk &) = delete;
        ~Walk();

        void start(std::string_view text); // valid UTF-8; must outlive its pieces
        std::string_view next(); // empty at the end

    private:
        struct Match;

        void findMatch();

        const PreTokenizer &m_preTokenizer;
        std::unique_ptr<Match> m_match;
        std::string_view m_text;
        std::string_view m_subject; // what the pattern sees: m_text or m_shadow
        std::string m_shadow;
        std::size_t m_position = 0;
        std::size_t m_matchBegin = 0;
        std::size_t m_matchEnd = 0;
    };

private:
    struct Code;
    explicit PreTokenizer(std::unique_ptr<const Code> code);

    std::unique_ptr<const Code> m_code;
};

} // namespace firesteel::engine
