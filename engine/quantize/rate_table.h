// SPDX-License-Identifier: MIT
//
// Which module gets how many bits per weight: the text of --rates. A line is a pattern of module
// names (a tensor's name without ".weight"; * stands for any characters) and a rate of 1 to 8 or
// "plain"; the first line that matches decides; what no line matches stays plain. # begins a
// comment.
//
//     model.language_model.layers.*.mlp.experts.*  4
//     lm_head                                      6
#pragma once

#include "engine/api/error.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class RateTable
{
public:
    // Errors: BadRequest naming the file and the line.
    static Result<RateTable> parse(std::string_view text, std::string_view fileName);
    // Errors: NotFound, Io, as above.
    static Result<RateTable> read(const std::filesystem::path &file);

    int rateOf(std::string_view module) const; // bits per weight; 0: plain

    // Lines (their patterns) that decide for none of these modules: typing mistakes.
    std::vector<std::string> unusedPatterns(const std::vector<std::string> &modules) const;

    const std::string &text() const { return m_text; }

private:
    struct Line
    {
        std::string pattern;
        int rate = 0;
    };
    const Line *find(std::string_view module) const;

    std::string m_text;
    std::vector<Line> m_lines;
};

// Whether `text` is `pattern`, where * stands for any characters, none included.
bool matchesPattern(std::string_view pattern, std::string_view text);

} // namespace firesteel::engine
