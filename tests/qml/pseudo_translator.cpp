// SPDX-License-Identifier: MIT
#include "tests/qml/pseudo_translator.h"

#include <QRegularExpression>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;

// Brackets that no text of ours has.
constexpr QChar kOpen = u'⟦';
constexpr QChar kClose = u'⟧';

constexpr QStringView kPlain = u"aceghijklnorstuwyzACEGHIJKLNORSTUWYZ";
constexpr QStringView kAccented = u"àçéğĥíĵķļñöŕšŧüŵýžÀÇÉĞĤÍĴĶĻÑÖŔŠŦÜŴÝŽ";
static_assert(kPlain.size() == kAccented.size());

} // namespace

QString PseudoTranslator::translate(const char * /*context*/, const char *sourceText,
                                    const char * /*disambiguation*/, int /*n*/) const
{
    const QString source = QString::fromUtf8(sourceText);
    if (source.isEmpty())
        return {};
    QString text(kOpen);
    qsizetype letters = 0;
    for (qsizetype i = 0; i < source.size(); ++i) {
        const qsizetype at = kPlain.indexOf(source[i]);
        // %1, %n and %Ln are filled in later.
        const bool isPlaceholder = source[i] == u'%'
            || (i > 0 && source[i - 1] == u'%' && (source[i] == u'n' || source[i] == u'L'))
            || (i > 1 && source[i - 2] == u'%' && source[i - 1] == u'L');
        text += at >= 0 && !isPlaceholder ? kAccented[at] : source[i];
        if (source[i].isLetter())
            ++letters;
    }
    // A third longer, as German or Finnish are.
    text += QString((letters + 2) / 3, u'~');
    return text + kClose;
}

QString withoutTranslated(QString text)
{
    static const QRegularExpression innermost(u"⟦[^⟦⟧]*⟧"_s);
    qsizetype length = 0;
    do {
        length = text.size();
        text.remove(innermost);
    } while (text.size() != length);
    return text.trimmed();
}

} // namespace firesteel::test
