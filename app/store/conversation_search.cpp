// SPDX-License-Identifier: MIT
#include "app/store/conversation_search.h"

#include "app/store/search_text.h"
#include "app/store/sql.h"

#include <QSet>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr qsizetype kExcerptCharacters = 120;
constexpr qsizetype kTitleCharacters = 200;
// A word that is everywhere matches in every message; the newest ones decide.
constexpr int kMostMatches = 5000;

StoreResult<void> addMessageHits(const QSqlDatabase &database, const QString &expression,
                                 qsizetype limit, std::vector<SearchHit> &hits,
                                 QSet<RecordId> &found)
{
    // Ids grow with time: the index's own order, backwards, is newest first, and needs no sorting.
    auto query = execute(database,
                         u"SELECT m.id, c.id, c.title, c.created, c.updated"
                         " FROM message_index JOIN messages m ON m.id = message_index.rowid"
                         " JOIN conversations c ON c.id = m.conversation"
                         " WHERE message_index MATCH ? AND c.deleted IS NULL"
                         " ORDER BY message_index.rowid DESC LIMIT %1"_s.arg(kMostMatches),
                         { expression });
    if (!query)
        return std::unexpected(query.error());
    return forEachRow(*query, [&](const QSqlQuery &row) {
        SearchHit hit;
        hit.message = row.value(0).toLongLong();
        hit.conversation = { row.value(1).toLongLong(), row.value(2).toString(),
                             row.value(3).toLongLong(), row.value(4).toLongLong() };
        if (!found.contains(hit.conversation.id)) {
            found.insert(hit.conversation.id);
            hits.push_back(std::move(hit));
        }
        return static_cast<qsizetype>(hits.size()) < limit;
    });
}

StoreResult<void> addTitleHits(const QSqlDatabase &database, const QString &expression,
                               qsizetype limit, std::vector<SearchHit> &hits, QSet<RecordId> &found)
{
    auto query = execute(database,
                         u"SELECT c.id, c.title, c.created, c.updated FROM title_index"
                         " JOIN conversations c ON c.id = title_index.rowid"
                         " WHERE title_index MATCH ? AND c.deleted IS NULL"
                         " ORDER BY c.updated DESC LIMIT %1"_s.arg(limit),
                         { expression });
    if (!query)
        return std::unexpected(query.error());
    return forEachRow(*query, [&](const QSqlQuery &row) {
        SearchHit hit;
        hit.conversation = { row.value(0).toLongLong(), row.value(1).toString(),
                             row.value(2).toLongLong(), row.value(3).toLongLong() };
        found.insert(hit.conversation.id);
        hits.push_back(std::move(hit));
        return true;
    });
}

} // namespace

StoreResult<std::vector<SearchHit>> searchConversations(const QSqlDatabase &database,
                                                        const QString &query, int limit)
{
    const QString expression = matchExpression(query);
    std::vector<SearchHit> hits;
    if (expression.isEmpty() || limit <= 0)
        return hits;
    QSet<RecordId> found;
    // Titles first: whoever searches for a title wants that conversation.
    auto done = addTitleHits(database, expression, limit, hits, found);
    if (done && static_cast<int>(hits.size()) < limit)
        done = addMessageHits(database, expression, limit, hits, found);
    if (!done)
        return std::unexpected(done.error());
    for (SearchHit &hit : hits) {
        hit.titleHtml = excerptHtml(hit.conversation.title, query, kTitleCharacters);
        if (!hit.message)
            continue;
        const auto text = singleValue(database, u"SELECT text FROM messages WHERE id = ?"_s,
                                      { QVariant::fromValue<qlonglong>(*hit.message) });
        if (!text)
            return std::unexpected(text.error());
        hit.excerptHtml = excerptHtml(text->toString(), query, kExcerptCharacters);
    }
    return hits;
}

} // namespace firesteel::app
