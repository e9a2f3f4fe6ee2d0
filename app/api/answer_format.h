// SPDX-License-Identifier: MIT
//
// What the answer has to be: "response_format" and its relatives in the other dialects, and calls
// that a client forces. A forced call outranks a format, in whichever order they are read.
#pragma once

#include "app/api/api_request.h"
#include "app/api/fields.h"

#include <optional>
#include <string>
#include <string_view>

namespace firesteel::app {

// {"type": "text" | "json_object" | "json_schema", ...}; with a schema, `schemaHolder` names the
// object inside that has it as "schema" ("" where the format itself does).
void readFormat(const Json &format, const std::string &path, std::string_view schemaHolder,
                ApiRequest &request, Problem &problem);

// The answer is a call: of the tool `name`, else of any. `path`: of what asked for it.
void forceCall(const std::optional<std::string> &name, const std::string &path, ApiRequest &request,
               Problem &problem);

// After everything is read: what the parts of the request mean to one another.
void completeFormat(ApiRequest &request);

} // namespace firesteel::app
