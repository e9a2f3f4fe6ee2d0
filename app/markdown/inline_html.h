// SPDX-License-Identifier: MIT
//
// Pieces of the html that markdown_renderer.h describes: escaping, entities, which links may be
// clicked, cutting.
#pragma once

#include <QString>
#include <QStringList>
#include <QStringView>

namespace firesteel::app {

void appendEscaped(QString &html, QStringView text);

bool isClickable(const QString &url);

// The few characters named by entities that prose uses; numeric ones are decoded. Others stay as
// they were written.
QString entityText(QStringView entity);

// What the html shows: without tags, entities as characters, white space as Qt collapses it, a line
// break as U+2028.
QString htmlText(QStringView html);

// Cuts html longer than `longest` at blanks outside every tag, where there are any.
QStringList splitHtml(const QString &html, qsizetype longest);

} // namespace firesteel::app
