// SPDX-License-Identifier: MIT
//
// CommonMark with GitHub's tables, task lists, strikethrough and autolinks, parsed by md4c into
// flat blocks. A pure function on whole texts; MarkdownBlockParser decides what to give it while a
// text is still growing.
//
// The html is our own: every character of the source is escaped, raw HTML included, and the only
// tags are <b> <i> <s> <code> <a href> <br>. Links are clickable for http, https and mailto.
//
// Formulas, between \( \), \[ \], $ $ or $$ $$, are shown as their TeX, letter by letter: in the
// text as code, one that stands on its own as a block of code in LaTeX.
#pragma once

#include "app/markdown/markdown_block.h"

#include <string_view>
#include <vector>

namespace firesteel::app {

// definitions: link reference definitions of the surrounding document, used but not shown.
// sourceOffset is added to the blocks' source ranges.
std::vector<MarkdownBlock> renderMarkdown(std::string_view text, std::string_view definitions = {},
                                          std::size_t sourceOffset = 0);

// Text of a code block: UTF-8 with U+FFFD for what is none and for NUL.
QString codeText(std::string_view utf8);

// Direction of a text by its first character with one; left to right without any.
bool isRightToLeft(const QString &text);

// Paragraphs longer than this become several blocks: one huge text item is the worst case for Qt's
// layout.
inline constexpr qsizetype kLongestParagraph = 6000; // characters
inline constexpr qsizetype kMostTableRows = 40; // of one Table block

} // namespace firesteel::app
