// SPDX-License-Identifier: MIT
//
// The conversations in the sidebar, newest first: the stored ones by name and time, those that were
// opened with their controllers, which it owns. A conversation without a message is current but not
// listed: it appears when its first message is sent. Application is its only writer.
#pragma once

#include "app/chat/conversation_controller.h"
#include "app/store/records.h"

#include <QAbstractListModel>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <memory>
#include <optional>
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

    struct Entry
    {
        ConversationSummary summary; // of one that is not open
        std::unique_ptr<ConversationController> conversation; // once it was opened
        std::uint64_t lastActive = 0;
    };

    explicit ConversationListModel(QObject *parent = nullptr);
    ~ConversationListModel() override;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int activeRow() const; // -1: the current one is not listed
    ConversationController *active() const { return m_active; }
    ConversationController *at(int row) const; // nullptr out of range or not opened yet
    std::optional<ConversationSummary> summaryAt(int row) const;
    int rowOf(RecordId id) const; // -1 when not listed
    void setActive(ConversationController *conversation);

    // What the store has, newest first; conversations that are open stay as they are.
    void setStored(const std::vector<ConversationSummary> &stored);
    void rename(int row, const QString &title); // one that is not open

    // Listed as soon as it has a message.
    ConversationController *add(std::unique_ptr<ConversationController> conversation);
    // The controller of a listed conversation that had none.
    ConversationController *open(int row, std::unique_ptr<ConversationController> conversation);
    // Closes all but the `keep` last shown of those that nothing is lost of.
    void closeIdle(int keep);
    // The unlisted, empty conversation, if there is one.
    ConversationController *blank() const { return m_blank.get(); }
    std::optional<Entry> takeAt(int row);
    void putBack(Entry entry);

Q_SIGNALS:
    void countChanged();
    void activeRowChanged();

private:
    int rowCountValue() const { return static_cast<int>(m_rows.size()); }
    const Entry &entry(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    int rowOf(const ConversationController *conversation) const;
    int rowFor(std::int64_t updated) const;
    void watch(ConversationController *conversation);
    void insert(Entry entry);
    void moveToItsPlace(const ConversationController *conversation);
    void rowChanged(const ConversationController *conversation, Role role);
    void scheduleMidnight();

    std::vector<Entry> m_rows;
    std::unique_ptr<ConversationController> m_blank;
    ConversationController *m_active = nullptr;
    std::uint64_t m_activations = 0;
    QTimer m_midnight;
};

} // namespace firesteel::app
