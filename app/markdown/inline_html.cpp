// SPDX-License-Identifier: MIT
#include "app/markdown/inline_html.h"

#include <QUrl>

#include <algorithm>
#include <array>
#include <utility>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

void appendEscaped(QString &html, QStringView text)
{
    for (const QChar c : text) {
        switch (c.unicode()) {
        case u'<':
            html += "&lt;"_L1;
            break;
        case u'>':
            html += "&gt;"_L1;
            break;
        case u'&':
            html += "&amp;"_L1;
            break;
        case u'"':
            html += "&quot;"_L1;
            break;
        default:
            html += c;
        }
    }
}

bool isClickable(const QString &url)
{
    const QUrl parsed(url, QUrl::StrictMode);
    const QString scheme = parsed.scheme().toLower();
    return parsed.isValid()
        && (scheme == "http"_L1 || scheme == "https"_L1 || scheme == "mailto"_L1);
}

// The few characters named by entities that prose uses; numeric ones are decoded. Others stay as
// they were written.
QString entityText(QStringView entity)
{
    static constexpr std::array<std::pair<QLatin1StringView, char16_t>, 14> kNamed { {
        { "&lt;"_L1, u'<' },
        { "&gt;"_L1, u'>' },
        { "&amp;"_L1, u'&' },
        { "&quot;"_L1, u'"' },
        { "&apos;"_L1, u'\'' },
        { "&nbsp;"_L1, u'\u00a0' },
        { "&copy;"_L1, u'©' },
        { "&mdash;"_L1, u'—' },
        { "&ndash;"_L1, u'–' },
        { "&hellip;"_L1, u'…' },
        { "&times;"_L1, u'×' },
        { "&deg;"_L1, u'°' },
        { "&rarr;"_L1, u'→' },
        { "&larr;"_L1, u'←' },
    } };
    for (const auto &[name, character] : kNamed) {
        if (entity == name)
            return { QChar(character) };
    }
    if (!entity.startsWith("&#"_L1) || !entity.endsWith(u';'))
        return entity.toString();
    const QStringView digits = entity.sliced(2).chopped(1);
    const bool isHex = digits.startsWith(u'x', Qt::CaseInsensitive);
    bool isNumber = false;
    const uint code = isHex ? digits.sliced(1).toUInt(&isNumber, 16) : digits.toUInt(&isNumber);
    const bool isCharacter = isNumber && code != 0 && code <= 0x10FFFF && !QChar::isSurrogate(code);
    return isCharacter ? QString::fromUcs4(reinterpret_cast<const char32_t *>(&code), 1)
                       : QString(QChar(QChar::ReplacementCharacter));
}

QString htmlText(QStringView html)
{
    QString text;
    text.reserve(html.size());
    for (qsizetype i = 0; i < html.size(); ++i) {
        const QChar c = html[i];
        if (c == u'<') {
            if (html.sliced(i).startsWith("<br>"_L1))
                text += QChar(QChar::LineSeparator);
            i = std::max(i, html.indexOf(u'>', i));
        } else if (c == u'&') {
            const qsizetype end = html.indexOf(u';', i);
            text += entityText(html.sliced(i, std::max(end, i) - i + 1));
            i = std::max(end, i);
        } else if (c == u' ' || c == u'\n' || c == u'\t' || c == u'\r') {
            if (!text.isEmpty() && text.back() != u' ' && text.back() != QChar::LineSeparator)
                text += u' ';
        } else {
            text += c;
        }
    }
    return text;
}

QStringList splitHtml(const QString &html, qsizetype longest)
{
    QStringList parts;
    qsizetype begin = 0;
    qsizetype cut = -1;
    int openTags = 0;
    bool isInTag = false;
    for (qsizetype i = 0; i < html.size(); ++i) {
        if (i - begin > longest && cut > begin) {
            parts.push_back(html.sliced(begin, cut - begin));
            begin = cut + 1;
        }
        const QChar c = html.at(i);
        if (c == u'<') {
            isInTag = true;
            const QStringView tag = QStringView(html).sliced(i);
            openTags += tag.startsWith("</"_L1) ? -1 : tag.startsWith("<br>"_L1) ? 0 : 1;
        } else if (c == u'>') {
            isInTag = false;
        } else if ((c == u' ' || c == u'\n') && openTags == 0 && !isInTag) {
            cut = i;
        }
    }
    parts.push_back(html.sliced(begin));
    return parts;
}

} // namespace firesteel::app
