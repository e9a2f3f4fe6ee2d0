// SPDX-License-Identifier: MIT
#include "app/store/search_text.h"

#include <QStringList>

#include <algorithm>
#include <ranges>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr char32_t kProlongedSoundMark = 0x30FC; // ー: of the script "common", but inside words
constexpr qsizetype kLongestSearched = 1 << 18; // of a text looked through for an excerpt

bool isCjk(char32_t c)
{
    if (c < 0x1100)
        return false;
    if (c == kProlongedSoundMark)
        return true;
    switch (QChar::script(c)) {
    case QChar::Script_Han:
    case QChar::Script_Hiragana:
    case QChar::Script_Katakana:
    case QChar::Script_Hangul:
    case QChar::Script_Bopomofo:
        return QChar::isLetterOrNumber(c);
    default:
        return false;
    }
}

// As the index's tokenizer: letters, numbers and what modifies them.
bool isWordCharacter(char32_t c) { return QChar::isLetterOrNumber(c) || QChar::isMark(c); }

bool isPairAt(QStringView text, qsizetype at)
{
    return text[at].isHighSurrogate() && at + 1 < text.size() && text[at + 1].isLowSurrogate();
}

struct Run
{
    bool isCjk = false;
    QString text;
};

// Words and CJK runs, without what stands between them.
QList<Run> runsOf(QStringView text)
{
    const QString unified = text.toString().normalized(QString::NormalizationForm_KC);
    QList<Run> runs;
    bool isInside = false;
    for (qsizetype i = 0; i < unified.size();) {
        const bool isPair = isPairAt(unified, i);
        const char32_t c = isPair ? QChar::surrogateToUcs4(unified[i], unified[i + 1])
                                  : char32_t { unified[i].unicode() };
        const qsizetype width = isPair ? 2 : 1;
        if (!isWordCharacter(c)) {
            isInside = false;
        } else {
            const bool cjk = isCjk(c) || (QChar::isMark(c) && isInside && runs.back().isCjk);
            if (!isInside || runs.back().isCjk != cjk)
                runs.push_back({ cjk, {} });
            runs.back().text += QStringView(unified).mid(i, width);
            isInside = true;
        }
        i += width;
    }
    return runs;
}

QStringList charactersOf(const QString &run)
{
    QStringList characters;
    for (const char32_t c : run.toUcs4())
        characters << QString::fromUcs4(&c, 1);
    return characters;
}

QStringList pairsOf(const QString &run)
{
    const QStringList characters = charactersOf(run);
    QStringList pairs;
    for (qsizetype i = 0; i + 1 < characters.size(); ++i)
        pairs << characters[i] + characters[i + 1];
    return pairs;
}

// A text without case and accents, and where each of its units came from.
struct FoldedText
{
    QString text;
    QList<qsizetype> origin; // of each unit; one more at the end
};

void foldCharacter(QStringView character, qsizetype at, FoldedText &into)
{
    if (character.size() == 1 && character.front().unicode() < 0x80) {
        into.text += character.front().toLower();
        into.origin << at;
        return;
    }
    const QString decomposed
        = character.toString().normalized(QString::NormalizationForm_KD).toCaseFolded();
    for (const char32_t c : decomposed.toUcs4()) {
        // Accents are no difference; voicing marks of kana are.
        if (QChar::isMark(c) && QChar::script(c) == QChar::Script_Inherited
            && QChar::script(decomposed.front().unicode()) != QChar::Script_Hiragana
            && QChar::script(decomposed.front().unicode()) != QChar::Script_Katakana)
            continue;
        const QString unit = QString::fromUcs4(&c, 1);
        into.text += unit;
        for (qsizetype i = 0; i < unit.size(); ++i)
            into.origin << at;
    }
}

FoldedText folded(QStringView text)
{
    FoldedText result;
    result.text.reserve(text.size());
    result.origin.reserve(text.size() + 1);
    for (qsizetype i = 0; i < text.size();) {
        const qsizetype width = isPairAt(text, i) ? 2 : 1;
        foldCharacter(text.mid(i, width), i, result);
        i += width;
    }
    result.origin << text.size();
    return result;
}

bool startsWord(const QString &text, qsizetype at)
{
    if (at == 0)
        return true;
    const QChar before = text[at - 1];
    return !before.isLetterOrNumber() || isCjk(before.unicode());
}

QString excerptPart(QStringView text)
{
    QString line = text.toString();
    std::ranges::replace_if(line, [](QChar c) { return c.isSpace(); }, u' ');
    return line.toHtmlEscaped();
}

} // namespace

QString indexedText(QStringView text)
{
    QStringList words;
    for (const Run &run : runsOf(text)) {
        if (!run.isCjk) {
            words << run.text;
            continue;
        }
        words << pairsOf(run.text);
        words << charactersOf(run.text).last();
    }
    return words.join(u' ');
}

QString matchExpression(QStringView query)
{
    QStringList terms;
    for (const Run &run : runsOf(query)) {
        const QStringList pairs = run.isCjk ? pairsOf(run.text) : QStringList();
        // Quoted, so that no word is taken for an operator; there are no quotes inside a run.
        if (pairs.size() > 0)
            terms << u"\"%1\""_s.arg(pairs.join(u' '));
        else
            terms << u"\"%1\"*"_s.arg(run.text);
    }
    terms.removeDuplicates();
    return terms.join(u" AND "_s);
}

QList<TextRange> matchesIn(QStringView text, QStringView query)
{
    const FoldedText haystack = folded(text.left(kLongestSearched));
    QList<TextRange> found;
    for (const Run &run : runsOf(query)) {
        const QString needle = folded(run.text).text;
        if (needle.isEmpty())
            continue;
        for (qsizetype at = haystack.text.indexOf(needle); at >= 0;
             at = haystack.text.indexOf(needle, at + 1)) {
            if (!run.isCjk && !startsWord(haystack.text, at))
                continue;
            const qsizetype begin = haystack.origin[at];
            // To the beginning of the next character: accents belong to the one before.
            qsizetype next = at + needle.size();
            const qsizetype lastOrigin = haystack.origin[next - 1];
            while (next < haystack.text.size() && haystack.origin[next] == lastOrigin)
                ++next;
            found << TextRange { begin, haystack.origin[next] - begin };
        }
    }
    std::ranges::sort(found, {}, &TextRange::begin);
    QList<TextRange> apart;
    for (const TextRange &range : found) {
        if (apart.isEmpty() || apart.back().begin + apart.back().length <= range.begin)
            apart << range;
        else
            apart.back().length
                = std::max(apart.back().begin + apart.back().length, range.begin + range.length)
                - apart.back().begin;
    }
    return apart;
}

QString excerptHtml(QStringView text, QStringView query, qsizetype length)
{
    const QList<TextRange> matches = matchesIn(text, query);
    const qsizetype lead = length / 4;
    qsizetype begin = matches.isEmpty() || text.size() <= length
        ? 0
        : std::max<qsizetype>(0, matches.front().begin - lead);
    // From a word's beginning, where one is near.
    if (begin > 0) {
        const qsizetype space = text.indexOf(u' ', begin);
        if (space >= 0 && space < matches.front().begin)
            begin = space + 1;
        else if (text[begin].isLowSurrogate())
            --begin;
    }
    qsizetype end = std::min(text.size(), begin + length);
    if (end < text.size() && text[end].isLowSurrogate())
        --end;
    QString html = begin > 0 ? u"…"_s : QString();
    qsizetype at = begin;
    for (const TextRange &match : matches) {
        if (match.begin + match.length > end)
            break;
        html += excerptPart(text.sliced(at, match.begin - at));
        html += u"<b>"_s + excerptPart(text.sliced(match.begin, match.length)) + u"</b>"_s;
        at = match.begin + match.length;
    }
    html += excerptPart(text.sliced(at, end - at));
    return end < text.size() ? html + u"…"_s : html;
}

} // namespace firesteel::app
