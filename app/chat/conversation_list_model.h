// SPDX-License-Identifier: MIT
//
// The conversations in the sidebar, newest first, kept in memory. It owns them. A conversation
// without a message is current but not listed: it appears when its first message is sent.
// Application is its only writer.
#pragma once

#include "app/chat/conversation_controller.h"

#include <QAbstractListModel>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <vector>

namespace firesteel::app {

class ConversationListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the conversations")
    Q_PROPERTY(int count READ rowCountValue NOTIFY countChanged FINAL)
    Q_PROPERTY(int activeRow READ activeRow NOTIFY activeRowChanged FINAL)

public:
    enum Role {
        ConversationIdRole = Qt::UserRole, // QString
        TitleRole, // QString
        SectionRole, // QString: "Today", "Yesterday" ...
        UpdatedRole, // QDateTime
        ActiveRole, // bool: shown in the window
        BusyRole, // bool: an answer is being made
    };
    Q_ENUM(Role)

    explicit ConversationListModel(QObject *parent = nullptr);
    ~ConversationListModel() override;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int activeRow() const; // -1: the current one is not listed
    ConversationController *active() const { return m_active; }
    ConversationController *at(int row) const; // nullptr out of range
    void setActive(ConversationController *conversation);

    // Listed as soon as it has a message.
    ConversationController *add(std::unique_ptr<ConversationController> conversation);
    // The unlisted, empty conversation, if there is one.
    ConversationController *blank() const { return m_blank.get(); }
    std::unique_ptr<ConversationController> takeAt(int row);

Q_SIGNALS:
    void countChanged();
    void activeRowChanged();

private:
    int rowCountValue() const { return static_cast<int>(m_rows.size()); }
    int rowOf(const ConversationController *conversation) const;
    int rowFor(const QDateTime &updated) const;
    void insert(std::unique_ptr<ConversationController> conversation);
    void moveToItsPlace(const ConversationController *conversation);
    void rowChanged(const ConversationController *conversation, Role role);
    void scheduleMidnight();

    std::vector<std::unique_ptr<ConversationController>> m_rows;
    std::unique_ptr<ConversationController> m_blank;
    ConversationController *m_active = nullptr;
    QTimer m_midnight;
};

} // namespace firesteel::app
