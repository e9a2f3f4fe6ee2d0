// SPDX-License-Identifier: MIT
//
// What the search field of the sidebar shows instead of the list: conversations in which its words
// occur. Each change of the query asks the store once the typing pauses. Owned by Application.
#pragma once

#include "app/store/conversation_store.h"

#include <QAbstractListModel>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <vector>

namespace firesteel::app {

class ConversationSearchModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the search")
    Q_PROPERTY(QString query READ query WRITE setQuery NOTIFY queryChanged FINAL)
    Q_PROPERTY(bool searching READ isSearching NOTIFY searchingChanged FINAL)
    Q_PROPERTY(int count READ rowCountValue NOTIFY countChanged FINAL)

public:
    enum Role {
        TitleHtmlRole = Qt::UserRole, // QString, matches in <b>
        ExcerptHtmlRole, // QString; empty when only the title matches
        TitleRole, // QString, plain
    };
    Q_ENUM(Role)

    explicit ConversationSearchModel(ConversationStore &store, QObject *parent = nullptr);
    ~ConversationSearchModel() override;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    QString query() const { return m_query; }
    void setQuery(const QString &query);
    bool isSearching() const { return m_isSearching; } // hits are of an earlier query
    std::optional<SearchHit> hitAt(int row) const;
    // After something was deleted, imported or renamed.
    void refresh();

Q_SIGNALS:
    void queryChanged();
    void searchingChanged();
    void countChanged();

private:
    int rowCountValue() const { return static_cast<int>(m_hits.size()); }
    void setSearching(bool searching);
    void search();
    void setHits(std::vector<SearchHit> hits);

    ConversationStore &m_store;
    QString m_query;
    bool m_isSearching = false;
    std::vector<SearchHit> m_hits;
    QTimer m_pause;
};

} // namespace firesteel::app
