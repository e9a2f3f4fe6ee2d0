// SPDX-License-Identifier: MIT
//
// Long texts that were pasted into a message: kept beside it as files of their own, so that nothing
// has to be laid out or scrolled past, and sent with it as text. Owned by ConversationController;
// the composer shows one chip each.
#pragma once

#include <QAbstractListModel>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class PastedTexts : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("A conversation owns what was pasted")
    Q_PROPERTY(int count READ count NOTIFY countChanged FINAL)

public:
    // What is longer than either is kept beside the message.
    static constexpr qsizetype kLongCharacters = 8000;
    static constexpr qsizetype kLongLines = 200;

    enum Role {
        NameRole = Qt::UserRole, // QString: "Pasted text 1"
        SizeRole, // QString: "20,000 lines · 430 kB"
    };
    Q_ENUM(Role)

    using QAbstractListModel::QAbstractListModel;

    // Of the clipboard, if it is long; false: it is to be pasted like any other.
    Q_INVOKABLE bool takeClipboard();
    Q_INVOKABLE void add(const QString &text);
    Q_INVOKABLE void remove(int row);
    Q_INVOKABLE QString textOf(int row) const;
    void clear();

    int count() const { return static_cast<int>(m_texts.size()); }
    // The message as it is sent: its words, then every text in a fence.
    QString messageWith(const QString &words) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void countChanged();

private:
    QString nameOf(int row) const;

    QStringList m_texts;
};

} // namespace firesteel::app
