// SPDX-License-Identifier: MIT
//
// A language that is none: every string in accented letters, longer, in brackets. What shows
// without brackets was never given to a translator; what is cut off would be in a language with
// long words.
#pragma once

#include <QTranslator>

namespace firesteel::test {

class PseudoTranslator : public QTranslator
{
public:
    bool isEmpty() const override { return false; }
    QString translate(const char *context, const char *sourceText, const char *disambiguation,
                      int n) const override;
};

// What is left of a text without everything that was translated; placeholders filled in with data
// stay, those filled in with translated text go too.
QString withoutTranslated(QString text);

} // namespace firesteel::test
