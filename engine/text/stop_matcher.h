// SPDX-License-Identifier: MIT
//
// Finds stop strings in streamed text, however it is cut, and holds back what may become one. The
// first to be complete wins; of several complete at the same byte, the longest. Used by
// OutputParser.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

class StopMatcher
{
public:
    explicit StopMatcher(const std::vector<std::string> &stops); // empty ones are ignored

    struct Output
    {
        std::string text; // certainly before any stop string
        bool found = false;
    };
    Output push(std::string_view text); // whole UTF-8 characters
    std::string release(); // what is held back; matching starts afresh

private:
    // Knuth, Morris, Pratt (1977): one step per byte whatever the text.
    struct Pattern
    {
        std::string text;
        std::vector<std::size_t>
            border; // of each prefix: its longest proper suffix that is a prefix too
        std::size_t matched = 0;

        void step(char byte);
    };

    std::vector<Pattern> m_patterns;
    std::string m_held;
};

} // namespace firesteel::engine
