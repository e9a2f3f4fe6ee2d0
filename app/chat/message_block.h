// SPDX-License-Identifier: MIT
//
// One row of the message view: a Markdown block of an answer, or one of the other things a
// conversation shows. Rows of one message are neighbours.
#pragma once

#include "app/markdown/markdown_block.h"

#include <QString>

#include <cstddef>

namespace firesteel::app {

struct MessageBlock
{
    enum class Type {
        UserText, // plain text, a long message in several rows
        Thinking, // the line that stands for the reasoning; opens the rows below it
        ThinkingText, // plain text of the reasoning, shown while it is open
        Paragraph,
        Heading,
        Code,
        Table,
        Quote,
        ListItem,
        Rule,
        Status, // what an answer without text yet is waiting for
        Statistics, // of a finished answer
        Error, // in the place where it happened
    };

    Type type = Type::Paragraph;
    int message = 0;
    MarkdownBlock markdown; // the Markdown types
    QString text; // UserText, ThinkingText, Status, Statistics, Error
    QString action; // Error: id of what would help
    std::size_t sourceBegin = 0; // UserText, ThinkingText: bytes of their text
    std::size_t sourceEnd = 0;
};

} // namespace firesteel::app
