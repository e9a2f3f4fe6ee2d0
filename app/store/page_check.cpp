// SPDX-License-Identifier: MIT
#include "app/store/page_check.h"

#include "app/store/sql.h"

#include <QLoggingCategory>
#include <QSqlDatabase>
#include <QSqlDriver>

#include <atomic>
#include <sqlite3.h>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

Q_LOGGING_CATEGORY(logStore, "firesteel.store", QtInfoMsg)

sqlite3 *handleOf(const QSqlDatabase &connection)
{
    const QVariant handle = connection.driver()->handle();
    return qstrcmp(handle.typeName(), "sqlite3*") == 0
        ? *static_cast<sqlite3 *const *>(handle.constData())
        : nullptr;
}

} // namespace

PageCheck::PageCheck(QString file, std::function<void(std::optional<QString> damage)> done)
    : m_file(std::move(file))
    , m_thread([this, done = std::move(done)] { done(check()); })
{
}

PageCheck::~PageCheck()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isStopped = true;
        if (m_running != nullptr)
            sqlite3_interrupt(m_running);
    }
    m_thread.join();
}

std::optional<QString> PageCheck::check()
{
    static std::atomic<int> count = 0;
    const QString name = u"firesteel-check-%1"_s.arg(count++);
    std::optional<QString> damage;
    {
        QSqlDatabase connection = QSqlDatabase::addDatabase(u"QSQLITE"_s, name);
        connection.setConnectOptions(u"QSQLITE_OPEN_READONLY"_s);
        connection.setDatabaseName(m_file);
        if (connection.open()) {
            {
                const std::scoped_lock lock(m_mutex);
                m_running = m_isStopped ? nullptr : handleOf(connection);
            }
            const auto result = m_running != nullptr
                ? singleValue(connection, u"PRAGMA quick_check(1)"_s)
                : StoreResult<QVariant>(u"ok"_s);
            {
                const std::scoped_lock lock(m_mutex);
                m_running = nullptr;
                if (!m_isStopped && result && result->toString() != "ok"_L1)
                    damage = result->toString();
                else if (!m_isStopped && !result && result.error().code == StoreErrorCode::Damaged)
                    damage = result.error().message;
                else if (!m_isStopped && !result)
                    qCWarning(logStore).noquote()
                        << "the pages could not be checked:" << result.error().message;
            }
            connection.close();
        }
    }
    QSqlDatabase::removeDatabase(name);
    return damage;
}

} // namespace firesteel::app
