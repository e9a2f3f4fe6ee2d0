// SPDX-License-Identifier: MIT
//
// Conversations to and from JSON files, and to Markdown, one conversation at a time: neither a
// large file nor a large database is ever in memory as a whole, and other work of the database
// thread goes on in between. Owned by Application; called from the GUI thread.
#pragma once

#include "app/store/database_thread.h"
#include "app/store/records.h"

#include <QFuture>
#include <QObject>
#include <QString>
#include <QThreadPool>

#include <atomic>
#include <optional>

namespace firesteel::app {

struct ExchangeResult
{
    int conversations = 0; // written or added
    int messages = 0;
    int alreadyHere = 0; // import: exactly the same
    int unreadable = 0; // import: objects that are no conversation
};

class ConversationExchange : public QObject
{
    Q_OBJECT

public:
    // The database must outlive the exchange.
    explicit ConversationExchange(DatabaseThread &database, QObject *parent = nullptr);
    ~ConversationExchange() override; // stops what runs

    // The file is replaced when everything is written, or left as it was. Without a conversation:
    // all of them. A name that ends in ".md" gets the branches on show as Markdown, any other
    // everything as JSON.
    QFuture<StoreResult<ExchangeResult>> exportTo(const QString &file,
                                                  std::optional<RecordId> conversation);

    // Conversations whose ids are taken come in as copies with new ones. A file that breaks off
    // leaves what was read before; the error says how much that is.
    QFuture<StoreResult<ExchangeResult>> importFrom(const QString &file);

private:
    DatabaseThread &m_database;
    std::atomic<bool> m_isStopping = false;
    QThreadPool m_workers;
};

} // namespace firesteel::app
