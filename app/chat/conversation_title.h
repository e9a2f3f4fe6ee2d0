// SPDX-License-Identifier: MIT
//
// What the sidebar says about a conversation: a title made of its first question, and the day group
// it stands in.
#pragma once

#include <QDate>
#include <QString>

namespace firesteel::app {

// First line with text, without Markdown's leading marks, cut at a word.
QString titleFromMessage(const QString &message);

// "Today", "Yesterday", "Previous 7 days", "Previous 30 days", then month and year.
QString sectionOf(QDate day, QDate today);

} // namespace firesteel::app
