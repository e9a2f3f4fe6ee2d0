// SPDX-License-Identifier: MIT
//
// What full-text search compares. Chinese, Japanese and Korean write without spaces between words,
// so their runs are indexed as overlapping pairs of characters: a run is found wherever it stands
// in another, which whole-run tokens would not do. Pure functions; called on any thread.
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

namespace firesteel::app {

// The words to index: compatibility forms unified (full-width letters and such), each run of CJK
// characters as its pairs and its last character, so that single characters are found by prefix.
QString indexedText(QStringView text);

// A person's words as an FTS5 expression: every word must occur, as the beginning of a word. Empty
// when nothing in it can be searched for.
QString matchExpression(QStringView query);

struct TextRange
{
    qsizetype begin = 0; // UTF-16 units
    qsizetype length = 0;

    bool operator==(const TextRange &) const = default;
};

// Where the words of a query stand in a text, in order, not overlapping.
QList<TextRange> matchesIn(QStringView text, QStringView query);

// A line of at most `length` characters around the first match, for rich text: escaped, matches in
// <b>, "…" where it was cut.
QString excerptHtml(QStringView text, QStringView query, qsizetype length);

} // namespace firesteel::app
