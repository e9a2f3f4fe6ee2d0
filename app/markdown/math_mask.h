// SPDX-License-Identifier: MIT
//
// Makes TeX in Markdown safe from Markdown. md4c knows formulas between dollars only, and reads
// what stands in them for lists, headings or emphasis where it looks so. The renderer gives md4c
// the masked text and takes what is shown from the text as it was written, at the same offsets.
#pragma once

#include <string>
#include <string_view>

namespace firesteel::app {

// The text, byte for byte as long, with \( \) \[ \] as dollars and the content of formulas between
// these or $$ as letters. Code stays, and so does whatever is no whole formula: one that a blank
// line cuts, or that does not end. Only one that stands open at the end of the text, behind a line
// of nothing but \[ or $$, is closed by two more bytes: it is being written.
std::string maskMath(std::string_view text);

} // namespace firesteel::app
