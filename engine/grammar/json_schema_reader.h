// SPDX-License-Identifier: MIT
//
// Reads a JSON schema (draft 2020-12, the subset in docs/structured-output.md). A keyword that
// could restrict and is not honoured is refused by name.
#pragma once

#include "engine/grammar/json_schema.h"

#include <string_view>

namespace firesteel::engine {

inline constexpr std::size_t kMaxSchemaBytes = 256UZ * 1024;
inline constexpr std::size_t kMaxSchemas = 10'000; // in one document, those of references included
inline constexpr std::size_t kMaxEnumValues = 4096;
inline constexpr std::size_t kMaxAlternatives = 256; // of one anyOf or oneOf
inline constexpr std::size_t kMaxStringLength = 8192; // a larger maxLength becomes this
inline constexpr std::size_t kMaxArrayItems = 4096; // a larger maxItems becomes this

// `what` begins every error: "<what>: /properties/age: 'multipleOf' is not supported". Errors:
// BadRequest.
Result<JsonSchemas> readJsonSchema(std::string_view schema, std::string_view what);

} // namespace firesteel::engine
