// SPDX-License-Identifier: MIT
//
// Whether a value that is at hand satisfies a schema: the values of an enum beside other keywords,
// and alternatives that exclude each other.
#pragma once

#include "engine/grammar/json_schema.h"

namespace firesteel::engine {

bool allowsJson(const JsonSchemas &schemas, const Conjunction &all, const PromptJson &value);

// True: certainly no value satisfies both. Tells them apart by type, by the values of an enum, and
// by a required property of objects for which one of these holds.
bool areDisjoint(const JsonSchemas &schemas, const Conjunction &a, const Conjunction &b);

} // namespace firesteel::engine
