// SPDX-License-Identifier: MIT
#include "engine/decode/lookup_drafter.h"

#include <algorithm>

namespace firesteel::engine {

namespace {

// Where the copy begins: after the longest earlier match of the end of `tokens`, the newest among
// equals; 0 without one.
std::size_t copyStart(std::span<const std::int32_t> tokens)
{
    const std::size_t size = tokens.size();
    std::size_t longest = LookupDrafter::kShortestMatch - 1;
    std::size_t start = 0;
    for (std::size_t end = size - 1; end > 0; --end) { // a match of tokens[end - n, end)
        if (tokens[end - 1] != tokens[size - 1])
            continue;
        const std::size_t limit
            = std::min(end, static_cast<std::size_t>(LookupDrafter::kLongestMatch));
        std::size_t length = 1;
        while (length < limit && tokens[end - 1 - length] == tokens[size - 1 - length])
            ++length;
        if (length > longest) {
            longest = length;
            start = end;
        }
        if (longest == static_cast<std::size_t>(LookupDrafter::kLongestMatch))
            break;
    }
    return start;
}

} // namespace

void LookupDrafter::draft(std::span<DraftJob> jobs)
{
    for (DraftJob &job : jobs) {
        job.drafts.clear();
        const std::size_t start = job.tokens.empty() ? 0 : copyStart(job.tokens);
        if (start == 0)
            continue;
        const std::span<const std::int32_t> copy = job.tokens.subspan(
            start, std::min(static_cast<std::size_t>(job.count), job.tokens.size() - start));
        job.drafts.assign(copy.begin(), copy.end());
    }
}

} // namespace firesteel::engine
