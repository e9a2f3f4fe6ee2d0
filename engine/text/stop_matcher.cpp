// SPDX-License-Identifier: MIT
#include "engine/text/stop_matcher.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <utility>

namespace firesteel::engine {

StopMatcher::StopMatcher(const std::vector<std::string> &stops)
{
    for (const std::string &stop : stops) {
        if (stop.empty())
            continue;
        Pattern &pattern = m_patterns.emplace_back();
        pattern.text = replaceInvalidUtf8(stop);
        pattern.border.assign(pattern.text.size() + 1, 0);
        for (std::size_t length = 1; length < pattern.text.size(); ++length) {
            pattern.step(pattern.text[length]);
            pattern.border[length + 1] = pattern.matched;
        }
        pattern.matched = 0;
    }
}

void StopMatcher::Pattern::step(char byte)
{
    while (matched > 0 && text[matched] != byte)
        matched = border[matched];
    if (text[matched] == byte)
        ++matched;
}

StopMatcher::Output StopMatcher::push(std::string_view text)
{
    if (m_patterns.empty())
        return { std::string(text), false };
    for (const char byte : text) {
        m_held += byte;
        std::size_t longest = 0;
        for (Pattern &pattern : m_patterns) {
            pattern.step(byte);
            if (pattern.matched == pattern.text.size())
                longest = std::max(longest, pattern.matched);
        }
        if (longest > 0) {
            m_held.resize(m_held.size() - longest);
            return { release(), true };
        }
    }
    std::size_t kept = 0;
    for (const Pattern &pattern : m_patterns)
        kept = std::max(kept, pattern.matched);
    std::string safe = m_held.substr(0, m_held.size() - kept);
    m_held.erase(0, safe.size());
    return { std::move(safe), false };
}

std::string StopMatcher::release()
{
    for (Pattern &pattern : m_patterns)
        pattern.matched = 0;
    return std::exchange(m_held, {});
}

} // namespace firesteel::engine
