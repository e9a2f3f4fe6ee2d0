// SPDX-License-Identifier: MIT
//
// One visible block of a rendered Markdown text: what the renderer makes, the streaming parser
// keeps and the message model shows. Containers are flattened: a paragraph inside a list item is a
// block of its own with an indent, so that a long answer becomes many small rows.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <cstddef>

namespace firesteel::app {

struct MarkdownBlock
{
    enum class Kind { Paragraph, Heading, Code, Table, Quote, ListItem, Rule };
    enum class Alignment { Left, Center, Right };

    Kind kind = Kind::Paragraph;
    int level = 0; // Heading: 1 to 6. ListItem: 1 is the outermost list
    int indent = 0; // lists this block stands in; its text starts one step further per list
    int quoteDepth = 0; // block quotes around it
    QString marker; // ListItem: "•", "2.", "☐", "☑"
    QString html; // Paragraph, Heading, Quote, ListItem: escaped, only tags of markdown_renderer.h
    QString language; // Code: first word of the fence's info string
    QString code; // Code
    QStringList tableHeader; // html of each cell; empty on the later parts of a long table
    QList<QStringList> tableRows; // html, every row as wide as the table
    QList<Alignment> tableAlignments; // one per column
    bool rightToLeft = false; // by the first strong character
    // Bytes of the source text [begin, end) that this block was made of, markers and fences
    // included.
    std::size_t sourceBegin = 0;
    std::size_t sourceEnd = 0;

    bool operator==(const MarkdownBlock &) const = default;
};

} // namespace firesteel::app
