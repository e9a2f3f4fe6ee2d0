// SPDX-License-Identifier: MIT
//
// Grammars of JSON answers: any object, or what a JSON schema allows. Sound, not complete: every
// text of the grammar is valid, but not every valid text is in it (docs/structured-output.md).
#pragma once

#include "engine/api/error.h"
#include "engine/grammar/grammar.h"

#include <memory>
#include <string_view>

namespace firesteel::engine {

std::shared_ptr<const Grammar> jsonObjectGrammar(); // made once

// Errors: BadRequest, with the place in the schema and the keyword: "response schema:
// /properties/age: 'multipleOf' is not supported".
Result<std::shared_ptr<const Grammar>> jsonSchemaGrammar(std::string_view schema);

} // namespace firesteel::engine
