// SPDX-License-Identifier: MIT
//
// What the suites of engine/text share: the tokenizer of tests/data and its goldens.
#pragma once

#include "engine/text/tokenizer.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace firesteel::test {

const engine::Tokenizer &testTokenizer(); // tests/data/tokenizer/tokenizer.json: Glimmer's
nlohmann::ordered_json readTestJson(std::string_view relative); // below tests/data

} // namespace firesteel::test
