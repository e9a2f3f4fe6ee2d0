// SPDX-License-Identifier: MIT
#include "engine/quantize/rate_table.h"

#include "engine/base/mapped_file.h"
#include "engine/base/printable.h"
#include "kernels/exl3/exl3.h"

#include <algorithm>
#include <format>
#include <ranges>
#include <set>

namespace firesteel::engine {

namespace {

std::vector<std::string_view> wordsOf(std::string_view line)
{
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (std::size_t at = 0;
         (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

// -1: neither a rate nor "plain".
int parseRate(std::string_view word)
{
    if (word == "plain")
        return 0;
    if (word.size() == 1 && word[0] >= '1' && word[0] <= '0' + kernels::kExl3MaxRate)
        return word[0] - '0';
    return -1;
}

} // namespace

bool matchesPattern(std::string_view pattern, std::string_view text)
{
    // Backtracks to the last star only: what earlier ones took can stay as it is.
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t starText = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            starText = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++starText;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<RateTable> RateTable::parse(std::string_view text, std::string_view fileName)
{
    RateTable table;
    table.m_text = text;
    std::size_t number = 0;
    for (const auto part : std::views::split(text, '\n')) {
        ++number;
        const std::vector<std::string_view> words = wordsOf(std::string_view(part));
        if (words.empty())
            continue;
        const int rate = words.size() == 2 ? parseRate(words[1]) : -1;
        if (rate < 0)
            return fail(ErrorCode::BadRequest,
                        std::format("{}: line {} is not a pattern and a rate of 1 to {} or "
                                    "\"plain\"",
                                    printable(fileName), number, kernels::kExl3MaxRate));
        table.m_lines.push_back({ std::string(words[0]), rate });
    }
    if (table.m_lines.empty())
        return fail(ErrorCode::BadRequest,
                    std::format("{}: has no line with a pattern and a rate", printable(fileName)));
    return table;
}

Result<RateTable> RateTable::read(const std::filesystem::path &file)
{
    const auto mapped = MappedFile::open(file);
    if (!mapped)
        return std::unexpected(mapped.error());
    return parse({ reinterpret_cast<const char *>(mapped->bytes().data()), mapped->bytes().size() },
                 file.string());
}

const RateTable::Line *RateTable::find(std::string_view module) const
{
    const auto line = std::ranges::find_if(
        m_lines, [&](const Line &candidate) { return matchesPattern(candidate.pattern, module); });
    return line == m_lines.end() ? nullptr : &*line;
}

int RateTable::rateOf(std::string_view module) const
{
    const Line *line = find(module);
    return line == nullptr ? 0 : line->rate;
}

std::vector<std::string> RateTable::unusedPatterns(const std::vector<std::string> &modules) const
{
    std::set<const Line *> used;
    for (const std::string &module : modules)
        used.insert(find(module));
    std::vector<std::string> patterns;
    for (const Line &line : m_lines)
        if (!used.contains(&line))
            patterns.push_back(line.pattern);
    return patterns;
}

} // namespace firesteel::engine
