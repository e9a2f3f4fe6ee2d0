// SPDX-License-Identifier: MIT
//
// Content of messages: a string, or parts of which this model reads those of text.
#pragma once

#include "app/api/fields.h"
#include "engine/api/request.h"

#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

// `content`: a string, null (nothing) or an array of parts. Types of all dialects are understood:
// text, input_text, output_text, image_url, input_image, image. Problems: other types, by name; an
// image, after it was looked at, since this model reads none.
std::vector<engine::ContentPart> readContent(const Json &content, const std::string &path,
                                             Problem &problem);

// One such part, added to `parts`.
void readPart(const Json &part, const std::string &path, std::vector<engine::ContentPart> &parts,
              Problem &problem);

// Of a data URL with an image in it: empty when it is well-formed, else what is wrong. Addresses
// are never fetched.
std::string imageUrlProblem(std::string_view url);

} // namespace firesteel::app
