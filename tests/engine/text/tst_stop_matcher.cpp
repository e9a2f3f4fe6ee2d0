// SPDX-License-Identifier: MIT
#include "engine/text/stop_matcher.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

using firesteel::engine::StopMatcher;

namespace {

struct Result
{
    std::string text;
    bool found = false;

    bool operator==(const Result &) const = default;
};

// The definition, by search: the stop string that is complete first, the longest of those.
Result expected(const std::string &text, const std::vector<std::string> &stops)
{
    for (std::size_t end = 1; end <= text.size(); ++end) {
        std::size_t longest = 0;
        for (const std::string &stop : stops) {
            if (std::string_view(text).substr(0, end).ends_with(stop))
                longest = std::max(longest, stop.size());
        }
        if (longest > 0)
            return { text.substr(0, end - longest), true };
    }
    return { text, false };
}

} // namespace

TEST_CASE("stop strings are found wherever the text is cut")
{
    std::mt19937 random(1);
    const auto randomText = [&random](std::size_t length) {
        std::string text(length, 'a');
        for (char &c : text)
            c = static_cast<char>('a' + random() % 2);
        return text;
    };
    int found = 0;
    for (int round = 0; round < 5000; ++round) {
        std::vector<std::string> stops(1 + random() % 3);
        for (std::string &stop : stops)
            stop = randomText(random() % 6);
        std::erase(stops, std::string());
        const std::string text = randomText(random() % 20);
        StopMatcher matcher(stops);
        Result result;
        for (std::size_t at = 0; at < text.size() && !result.found;) {
            const std::size_t length = 1 + random() % 5;
            const auto output = matcher.push(std::string_view(text).substr(at, length));
            result.text += output.text;
            result.found = output.found;
            at += length;
        }
        if (!result.found)
            result.text += matcher.release();
        CHECK(result == expected(text, stops));
        found += result.found ? 1 : 0;
    }
    CHECK(found > 1000);
}

TEST_CASE("only what may become a stop string is held back")
{
    StopMatcher matcher({ "", "END", "\n\n" });
    CHECK(matcher.push("text E").text == "text ");
    CHECK(matcher.push("N").text.empty());
    CHECK(matcher.push("d").text == "ENd");
    CHECK(matcher.push("\n").text.empty());
    CHECK(matcher.release() == "\n");
    CHECK_FALSE(matcher.push("\n").found); // matching started afresh
    CHECK(matcher.push("\n").found);
}
