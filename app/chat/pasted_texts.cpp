// SPDX-License-Identifier: MIT
#include "app/chat/pasted_texts.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLocale>

#include <algorithm>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr qsizetype kShortestFence = 3;

qsizetype linesOf(const QString &text)
{
    return text.count(u'\n') + (text.endsWith(u'\n') ? 0 : 1);
}

// Longer than every run of backticks in the text.
QString fenceFor(const QString &text)
{
    qsizetype longest = 0;
    qsizetype run = 0;
    for (const QChar c : text) {
        run = c == u'`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return { std::max(kShortestFence, longest + 1), u'`' };
}

} // namespace

bool PastedTexts::takeClipboard()
{
    const QString text = QGuiApplication::clipboard()->text();
    if (text.size() <= kLongCharacters && linesOf(text) <= kLongLines)
        return false;
    add(text);
    return true;
}

void PastedTexts::add(const QString &text)
{
    beginInsertRows({}, count(), count());
    m_texts << text;
    endInsertRows();
    Q_EMIT countChanged();
}

void PastedTexts::remove(int row)
{
    if (row < 0 || row >= count())
        return;
    beginRemoveRows({}, row, row);
    m_texts.removeAt(row);
    endRemoveRows();
    if (row < count())
        Q_EMIT dataChanged(index(row), index(count() - 1), { NameRole }); // they are numbered
    Q_EMIT countChanged();
}

void PastedTexts::clear()
{
    if (m_texts.isEmpty())
        return;
    beginResetModel();
    m_texts.clear();
    endResetModel();
    Q_EMIT countChanged();
}

QString PastedTexts::textOf(int row) const { return m_texts.value(row); }

QString PastedTexts::nameOf(int row) const { return tr("Pasted text %1").arg(row + 1); }

QString PastedTexts::messageWith(const QString &words) const
{
    QStringList parts;
    if (!words.trimmed().isEmpty() || m_texts.isEmpty())
        parts << words;
    for (int row = 0; row < count(); ++row) {
        const QString &text = m_texts[row];
        const QString fence = fenceFor(text);
        parts << nameOf(row) + u":\n"_s + fence + u"text\n"_s + text
                + (text.endsWith(u'\n') ? QString() : u"\n"_s) + fence;
    }
    return parts.join(u"\n\n"_s);
}

int PastedTexts::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant PastedTexts::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const QString &text = m_texts[index.row()];
    const QLocale locale;
    switch (role) {
    case Qt::DisplayRole:
    case NameRole:
        return nameOf(index.row());
    case SizeRole:
        return tr("lines: %1 · %2")
            .arg(locale.toString(linesOf(text)), locale.formattedDataSize(text.toUtf8().size()));
    default:
        return {};
    }
}

QHash<int, QByteArray> PastedTexts::roleNames() const
{
    return { { NameRole, "name" }, { SizeRole, "size" } };
}

} // namespace firesteel::app
