// SPDX-License-Identifier: MIT
#include "app/store/conversation_exchange.h"

#include "app/store/conversation_json.h"
#include "app/store/conversation_markdown.h"
#include "app/store/conversation_queries.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFile>
#include <QJsonDocument>
#include <QSaveFile>
#include <QtConcurrentRun>

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Store)
};

std::unexpected<StoreError> fileFailure(const QString &file, const QString &why)
{
    return storeFailure(StoreErrorCode::Refused, u"%1: %2"_s.arg(file, why));
}

// Only on a worker: the GUI thread never waits.
template <typename T> T waitFor(QFuture<T> future)
{
    future.waitForFinished();
    return future.takeResult();
}

class Exporter
{
public:
    Exporter(DatabaseThread &database, const QString &file, const std::atomic<bool> &isStopping)
        : m_database(database)
        , m_file(file)
        , m_isMarkdown(file.endsWith(".md"_L1, Qt::CaseInsensitive))
        , m_isStopping(isStopping)
    {
    }

    StoreResult<ExchangeResult> run(std::optional<RecordId> only)
    {
        std::vector<RecordId> ids;
        if (only) {
            ids.push_back(*only);
        } else {
            const auto all = waitFor(m_database.read(listConversations));
            if (!all)
                return std::unexpected(all.error());
            for (const ConversationSummary &summary : *all)
                ids.push_back(summary.id);
        }
        if (!m_file.open(QIODevice::WriteOnly))
            return fileFailure(m_file.fileName(), m_file.errorString());
        if (!m_isMarkdown)
            m_file.write(header());
        for (const RecordId id : ids) {
            if (auto written = add(id); !written)
                return std::unexpected(written.error());
        }
        if (!m_isMarkdown)
            m_file.write("\n]}\n");
        if (!m_file.commit())
            return fileFailure(m_file.fileName(), m_file.errorString());
        return m_result;
    }

private:
    static QByteArray header()
    {
        // By hand, so that the version comes first and a reader can refuse before the bulk.
        return u"{\"format\":\"%1\",\"version\":%2,\"program\":\"Firesteel "
               u"%3\",\"exported\":\"%4\","
               "\"conversations\":["_s
                   .arg(QLatin1StringView(kExchangeFormat), QString::number(kExchangeVersion),
                        QCoreApplication::applicationVersion(),
                        QDateTime::currentDateTimeUtc().toString(Qt::ISODate))
                   .toUtf8();
    }

    StoreResult<void> add(RecordId id)
    {
        if (m_isStopping)
            return fileFailure(m_file.fileName(), Words::tr("the export was stopped"));
        const auto conversation
            = waitFor(m_database.read([id, isBranch = m_isMarkdown](const QSqlDatabase &sql) {
                  return isBranch ? loadBranch(sql, id, {}) : loadWhole(sql, id);
              }));
        if (!conversation && conversation.error().code == StoreErrorCode::NotFound)
            return {}; // deleted meanwhile
        if (!conversation)
            return std::unexpected(conversation.error());
        const QByteArray text = m_isMarkdown
            ? conversationMarkdown(*conversation).toUtf8()
            : QJsonDocument(conversationJson(*conversation)).toJson(QJsonDocument::Compact);
        if (m_isMarkdown)
            m_file.write(m_result.conversations > 0 ? "\n---\n\n" : "");
        else
            m_file.write(m_result.conversations > 0 ? ",\n" : "\n");
        if (m_file.write(text) != text.size())
            return fileFailure(m_file.fileName(), m_file.errorString());
        ++m_result.conversations;
        m_result.messages += static_cast<int>(conversation->messages.size());
        return {};
    }

    DatabaseThread &m_database;
    QSaveFile m_file;
    bool m_isMarkdown;
    const std::atomic<bool> &m_isStopping;
    ExchangeResult m_result;
};

void renumber(StoredConversation &conversation)
{
    QHash<RecordId, RecordId> renumbered;
    for (MessageRecord &message : conversation.messages) {
        const RecordId id = newRecordId();
        renumbered.insert(message.id, id);
        message.id = id;
        if (message.parent)
            message.parent = renumbered.value(*message.parent);
    }
    if (auto &current = conversation.record.currentMessage)
        current = renumbered.value(*current);
}

enum class Addition { Added, AlreadyHere };

StoreResult<Addition> addConversation(const QSqlDatabase &sql, StoredConversation conversation)
{
    // One that waits in the trash is no reason to keep its backup out.
    if (auto purged = purgeDeleted(sql, conversation.record.summary.id); !purged)
        return std::unexpected(purged.error());
    const auto present = loadWhole(sql, conversation.record.summary.id);
    if (present) {
        if (conversationJson(*present) == conversationJson(conversation))
            return Addition::AlreadyHere;
        conversation.record.summary.id = newRecordId();
        for (MessageRecord &message : conversation.messages)
            message.conversation = conversation.record.summary.id;
    } else if (present.error().code != StoreErrorCode::NotFound) {
        return std::unexpected(present.error());
    }
    for (const MessageRecord &message : conversation.messages) {
        const auto isTaken = messageExists(sql, message.id);
        if (!isTaken)
            return std::unexpected(isTaken.error());
        if (*isTaken) {
            renumber(conversation);
            break;
        }
    }
    if (auto done = insertConversation(sql, conversation.record); !done)
        return std::unexpected(done.error());
    for (const MessageRecord &message : conversation.messages) {
        if (auto done = insertMessage(sql, message); !done)
            return std::unexpected(done.error());
    }
    // Each message in turn became the one on show.
    if (auto done = setShown(sql, conversation.record); !done)
        return std::unexpected(done.error());
    return Addition::Added;
}

class Importer
{
public:
    Importer(DatabaseThread &database, QString file, const std::atomic<bool> &isStopping)
        : m_database(database)
        , m_file(std::move(file))
        , m_isStopping(isStopping)
    {
    }

    StoreResult<ExchangeResult> run()
    {
        std::ifstream input(QFile::encodeName(m_file).toStdString(), std::ios::binary);
        if (!input)
            return fileFailure(m_file, Words::tr("cannot be opened"));
        try {
            // Conversations are taken out as they end, so that only one is in memory.
            [[maybe_unused]] const auto rest = nlohmann::json::parse(
                input, [this](int depth, nlohmann::json::parse_event_t event, auto &value) {
                    return onValue(depth, event, value);
                });
            requireHeader();
        } catch (const nlohmann::json::exception &broken) {
            // Up to the last token read, which may be text of a conversation.
            const QString where = QString::fromUtf8(broken.what()).section(u';', 0, 0);
            return fileFailure(m_file,
                               Words::tr("broken JSON, whole conversations before it: %1. %2")
                                   .arg(m_result.conversations + m_result.alreadyHere)
                                   .arg(where.section(u" - "_s, 0, 0)));
        } catch (const Stop &) {
            return std::unexpected(*m_error); // what stopped the parser
        }
        if (m_error)
            return std::unexpected(*m_error);
        return m_result;
    }

private:
    struct Stop
    {
    };

    [[noreturn]] void stop(StoreError error)
    {
        m_error = std::move(error);
        throw Stop {};
    }

    bool onValue(int depth, nlohmann::json::parse_event_t event, nlohmann::json &value)
    {
        using Event = nlohmann::json::parse_event_t;
        constexpr int kHeaderDepth = 1;
        constexpr int kConversationDepth = 2;
        if (event == Event::key && depth == kHeaderDepth)
            m_key = value.get<std::string>();
        if (event == Event::value && depth == kHeaderDepth)
            onHeader(value);
        if (event == Event::array_start && depth == kHeaderDepth && m_key == "conversations")
            requireHeader();
        if (event != Event::object_end || depth != kConversationDepth || m_key != "conversations")
            return true;
        add(value);
        return false;
    }

    void onHeader(const nlohmann::json &value)
    {
        if (m_key == "format" && value.is_string())
            m_isOurs = value.get<std::string>() == kExchangeFormat;
        if (m_key == "version" && value.is_number_integer())
            m_version = value.get<int>();
    }

    void requireHeader()
    {
        if (!m_isOurs || m_version < 1)
            stop({ StoreErrorCode::Refused,
                   u"%1: %2"_s.arg(m_file,
                                   Words::tr("is not a file of Firesteel's conversations")) });
        if (m_version > kExchangeVersion)
            stop({ StoreErrorCode::Newer,
                   u"%1: %2"_s.arg(
                       m_file,
                       Words::tr("has version %1 of the format; this program reads "
                                 "up to %2")
                           .arg(QString::number(m_version), QString::number(kExchangeVersion))) });
    }

    void add(const nlohmann::json &value)
    {
        if (m_isStopping)
            stop({ StoreErrorCode::Refused,
                   u"%1: %2"_s.arg(m_file, Words::tr("the import was stopped")) });
        auto conversation = conversationFrom(
            QJsonDocument::fromJson(QByteArray::fromStdString(value.dump())).object());
        if (!conversation) {
            ++m_result.unreadable;
            return;
        }
        const auto messages = static_cast<int>(conversation->messages.size());
        auto added = waitFor(
            m_database.write([conversation = *std::move(conversation)](const QSqlDatabase &sql) {
                return addConversation(sql, conversation);
            }));
        if (!added)
            stop(added.error());
        if (*added == Addition::AlreadyHere) {
            ++m_result.alreadyHere;
        } else {
            ++m_result.conversations;
            m_result.messages += messages;
        }
    }

    DatabaseThread &m_database;
    QString m_file;
    const std::atomic<bool> &m_isStopping;
    std::string m_key; // of the outermost object, being read
    bool m_isOurs = false;
    int m_version = 0;
    ExchangeResult m_result;
    std::optional<StoreError> m_error;
};

} // namespace

ConversationExchange::ConversationExchange(DatabaseThread &database, QObject *parent)
    : QObject(parent)
    , m_database(database)
{
    m_workers.setMaxThreadCount(1);
}

ConversationExchange::~ConversationExchange()
{
    m_isStopping = true;
    m_workers.waitForDone();
}

QFuture<StoreResult<ExchangeResult>>
ConversationExchange::exportTo(const QString &file, std::optional<RecordId> conversation)
{
    return QtConcurrent::run(&m_workers, [this, file, conversation] {
        return Exporter(m_database, file, m_isStopping).run(conversation);
    });
}

QFuture<StoreResult<ExchangeResult>> ConversationExchange::importFrom(const QString &file)
{
    return QtConcurrent::run(
        &m_workers, [this, file] { return Importer(m_database, file, m_isStopping).run(); });
}

} // namespace firesteel::app
