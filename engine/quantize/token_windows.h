// SPDX-License-Identifier: MIT
//
// A text for calibration or evaluation as the model sees it: control tokens are written out
// ("<|user|>"), and a conversation begins with "[gMASK]<sop>", where the text is cut.
#pragma once

#include "engine/api/error.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace firesteel::engine {

// Token ids of each conversation, in pieces of at most `longest` tokens.
std::vector<std::vector<std::int32_t>>
tokenWindows(std::string_view text, const Tokenizer &tokenizer, std::size_t longest);

// The same of a file. Errors: NotFound, Io, BadRequest (no piece has two tokens).
Result<std::vector<std::vector<std::int32_t>>> readTokenWindows(const std::filesystem::path &file,
                                                                const Tokenizer &tokenizer,
                                                                std::size_t longest);

} // namespace firesteel::engine
