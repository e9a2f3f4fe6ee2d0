// SPDX-License-Identifier: MIT
//
// Text from outside (file names, tensor names, JSON keys) made fit for a one-line message. Used
// wherever such text enters an Error.
#pragma once

#include <string>
#include <string_view>

namespace firesteel::engine {

// Control characters become \xNN, so do all non-ASCII bytes of text that is not UTF-8; what exceeds
// `limit` bytes is cut.
std::string printable(std::string_view text, std::size_t limit = 200);

} // namespace firesteel::engine
