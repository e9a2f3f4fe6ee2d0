// SPDX-License-Identifier: MIT
#include "app/chat/conversation_search_model.h"

#include <utility>

namespace firesteel::app {

namespace {

constexpr int kPauseMilliseconds = 120;
constexpr int kMostHits = 100;

} // namespace

ConversationSearchModel::ConversationSearchModel(ConversationStore &store, QObject *parent)
    : QAbstractListModel(parent)
    , m_store(store)
{
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMilliseconds);
    connect(&m_pause, &QTimer::timeout, this, &ConversationSearchModel::search);
    connect(this, &QAbstractItemModel::modelReset, this, &ConversationSearchModel::countChanged);
}

ConversationSearchModel::~ConversationSearchModel() = default;

int ConversationSearchModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : rowCountValue();
}

QHash<int, QByteArray> ConversationSearchModel::roleNames() const
{
    return {
        { TitleHtmlRole, "titleHtml" },
        { ExcerptHtmlRole, "excerptHtml" },
        { TitleRole, "title" },
    };
}

QVariant ConversationSearchModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const SearchHit &hit = m_hits[static_cast<std::size_t>(index.row())];
    switch (role) {
    case TitleHtmlRole:
        return hit.titleHtml;
    case ExcerptHtmlRole:
        return hit.excerptHtml;
    case Qt::DisplayRole:
    case TitleRole:
        return hit.conversation.title;
    default:
        return {};
    }
}

std::optional<SearchHit> ConversationSearchModel::hitAt(int row) const
{
    if (row < 0 || row >= rowCountValue())
        return std::nullopt;
    return m_hits[static_cast<std::size_t>(row)];
}

void ConversationSearchModel::setQuery(const QString &query)
{
    if (query == m_query)
        return;
    m_query = query;
    Q_EMIT queryChanged();
    refresh();
}

void ConversationSearchModel::refresh()
{
    if (m_query.trimmed().isEmpty()) {
        m_pause.stop();
        setSearching(false);
        setHits({});
        return;
    }
    setSearching(true);
    m_pause.start();
}

void ConversationSearchModel::search()
{
    m_store.search(m_query, kMostHits)
        .then(this, [this, asked = m_query](const StoreResult<std::vector<SearchHit>> &hits) {
            if (asked != m_query || m_pause.isActive())
                return; // overtaken
            setSearching(false);
            setHits(hits.value_or(std::vector<SearchHit> {}));
        });
}

void ConversationSearchModel::setSearching(bool searching)
{
    if (searching == m_isSearching)
        return;
    m_isSearching = searching;
    Q_EMIT searchingChanged();
}

void ConversationSearchModel::setHits(std::vector<SearchHit> hits)
{
    if (hits.empty() && m_hits.empty())
        return;
    beginResetModel();
    m_hits = std::move(hits);
    endResetModel();
}

} // namespace firesteel::app
