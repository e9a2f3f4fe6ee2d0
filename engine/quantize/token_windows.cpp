// SPDX-License-Identifier: MIT
#include "engine/quantize/token_windows.h"

#include "engine/base/mapped_file.h"
#include "engine/base/printable.h"

#include <algorithm>
#include <format>

namespace firesteel::engine {

namespace {

constexpr std::string_view kBegin = "[gMASK]<sop>";

} // namespace

std::vector<std::vector<std::int32_t>> tokenWindows(std::string_view text,
                                                    const Tokenizer &tokenizer, std::size_t longest)
{
    std::vector<std::vector<std::int32_t>> windows;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(kBegin, 1), text.size());
        const std::vector<std::int32_t> tokens = tokenizer.encode(text.substr(0, end));
        for (std::size_t at = 0; at < tokens.size(); at += longest) {
            const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(at);
            const std::size_t count = std::min(longest, tokens.size() - at);
            windows.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
        }
        text.remove_prefix(end);
    }
    return windows;
}

Result<std::vector<std::vector<std::int32_t>>>
readTokenWindows(const std::filesystem::path &file, const Tokenizer &tokenizer, std::size_t longest)
{
    const auto mapped = MappedFile::open(file);
    if (!mapped)
        return std::unexpected(mapped.error());
    auto windows = tokenWindows(
        { reinterpret_cast<const char *>(mapped->bytes().data()), mapped->bytes().size() },
        tokenizer, longest);
    if (std::ranges::none_of(windows, [](const auto &window) { return window.size() > 1; }))
        return fail(ErrorCode::BadRequest,
                    std::format("{}: is too short a text", printable(file.string())));
    return windows;
}

} // namespace firesteel::engine
