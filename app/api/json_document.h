// SPDX-License-Identifier: MIT
//
// The bodies that clients send, read with limits: depth, number of values, valid UTF-8. Key order
// is kept, since the model sees tools as they were written.
#pragma once

#include "app/api/api_error.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace firesteel::app {

using Json = nlohmann::ordered_json;

constexpr int kDeepestJson = 128;
constexpr std::size_t kMostJsonValues = 2'000'000; // a prompt of a million token ids fits

// An object, or what is wrong with the text.
ApiResult<Json> parseBody(std::string_view text);

// One line. What is no UTF-8 becomes U+FFFD.
std::string toText(const Json &json);

} // namespace firesteel::app
