// SPDX-License-Identifier: MIT
#include "app/store/database_thread.h"

#include <QLoggingCategory>
#include <QTimer>

#include <deque>

namespace firesteel::app {

namespace {

Q_LOGGING_CATEGORY(logStore, "firesteel.store", QtInfoMsg)

constexpr int kRetryMilliseconds = 3000;

DatabaseThread::State stateFor(const Database &database)
{
    using State = DatabaseThread::State;
    if (database.access() == Database::Access::ReadWrite)
        return State::Ready;
    const StoreErrorCode code
        = database.trouble() ? database.trouble()->code : StoreErrorCode::Unavailable;
    if (code == StoreErrorCode::Newer)
        return State::Newer;
    if (database.access() == Database::Access::Closed)
        return code == StoreErrorCode::InUse ? State::InUse : State::Failed;
    return code == StoreErrorCode::InUse ? State::InUse : State::ReadOnly;
}

} // namespace

// Everything of this object but its construction happens on the database thread.
class DatabaseThread::Worker : public QObject
{
public:
    Worker(DatabaseThread &owner, QString file, std::span<const Migration> steps)
        : m_owner(owner)
        , m_file(std::move(file))
        , m_database(steps)
        , m_retry(this)
    {
        m_retry.setInterval(kRetryMilliseconds);
        connect(&m_retry, &QTimer::timeout, this, &Worker::runBacklog);
    }

    void open()
    {
        m_database.open(m_file);
        const QString detail = m_database.trouble() ? m_database.trouble()->message : QString();
        report(stateFor(m_database), detail);
        if (!m_database.notice().isEmpty())
            QMetaObject::invokeMethod(&m_owner, [owner = &m_owner, notice = m_database.notice()] {
                owner->setNotice(notice);
            });
    }

    void run(const Job &job) { job(m_database); }

    void keep(Change change, const std::shared_ptr<QPromise<StoreResult<void>>> &promise)
    {
        StoreResult<void> done;
        if (m_backlog.empty())
            done = m_database.write(change);
        else
            done = storeFailure(StoreErrorCode::Full, m_stall);
        if (!done && done.error().code == StoreErrorCode::Full) {
            m_backlog.push_back(std::move(change));
            stall(done.error());
        } else if (!done) {
            noteError(done.error());
        }
        promise->addResult(std::move(done));
        promise->finish();
    }

    void runBacklog()
    {
        while (!m_backlog.empty()) {
            const auto done = m_database.write(m_backlog.front());
            if (!done && done.error().code == StoreErrorCode::Full) {
                stall(done.error());
                return;
            }
            if (!done)
                noteError(done.error());
            m_backlog.pop_front();
        }
        m_retry.stop();
        if (m_isStalled) {
            m_isStalled = false;
            report(stateFor(m_database), {});
        }
    }

    void noteError(const StoreError &error)
    {
        if (error.code == StoreErrorCode::Damaged) {
            m_database.markDamaged();
            report(State::Damaged, error.message);
        }
        if (error.code == StoreErrorCode::Damaged || error.code == StoreErrorCode::Refused)
            qCWarning(logStore).noquote() << error.message;
    }

private:
    void stall(const StoreError &error)
    {
        if (!m_isStalled)
            qCWarning(logStore).noquote() << "waiting to write:" << error.message;
        m_isStalled = true;
        m_stall = error.message;
        m_retry.start();
        report(State::Stalled, error.message);
    }

    void report(State state, const QString &detail)
    {
        QMetaObject::invokeMethod(
            &m_owner, [owner = &m_owner, state, detail] { owner->setState(state, detail); });
    }

    DatabaseThread &m_owner;
    QString m_file;
    Database m_database;
    QTimer m_retry;
    std::deque<Change> m_backlog;
    bool m_isStalled = false;
    QString m_stall;
};

DatabaseThread::DatabaseThread(const QString &file, std::span<const Migration> steps,
                               QObject *parent)
    : QObject(parent)
{
    m_thread.setObjectName(QStringLiteral("database"));
    m_worker = new Worker(*this, file, steps);
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.start();
    QMetaObject::invokeMethod(m_worker, &Worker::open, Qt::QueuedConnection);
}

DatabaseThread::~DatabaseThread()
{
    // Queued behind everything else, so that all of it runs.
    QMetaObject::invokeMethod(
        m_worker,
        [this] {
            m_worker->runBacklog();
            m_thread.quit();
        },
        Qt::QueuedConnection);
    m_thread.wait();
}

void DatabaseThread::post(Job job)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, job = std::move(job)] { worker->run(job); },
        Qt::QueuedConnection);
}

QFuture<StoreResult<void>> DatabaseThread::keep(Change change)
{
    auto promise = std::make_shared<QPromise<StoreResult<void>>>();
    promise->start();
    auto future = promise->future();
    QMetaObject::invokeMethod(
        m_worker,
        [worker = m_worker, change = std::move(change), promise]() mutable {
            worker->keep(std::move(change), promise);
        },
        Qt::QueuedConnection);
    return future;
}

void DatabaseThread::retry()
{
    QMetaObject::invokeMethod(m_worker, &Worker::runBacklog, Qt::QueuedConnection);
}

void DatabaseThread::noteError(const StoreError &error) { m_worker->noteError(error); }

void DatabaseThread::setState(State state, const QString &detail)
{
    if (state == m_state && detail == m_detail)
        return;
    m_state = state;
    m_detail = detail;
    Q_EMIT stateChanged();
}

QString DatabaseThread::stateText() const
{
    switch (m_state) {
    case State::Opening:
    case State::Ready:
        return {};
    case State::Stalled:
        return tr("The disk is full or cannot be written. What is said now is kept in memory and "
                  "stored when there is space. %1")
            .arg(m_detail);
    case State::ReadOnly:
        return tr("The stored conversations can be read but not changed. What is said now is not "
                  "kept. %1")
            .arg(m_detail);
    case State::InUse:
        return tr("Firesteel is already running and has the stored chats open. What is said in this "
                  "window is not kept.");
    case State::Newer:
        return tr("The conversations were stored by a newer Firesteel and are left alone. What is "
                  "said now is not kept. %1")
            .arg(m_detail);
    case State::Damaged:
        return tr("The stored conversations are damaged. They are repaired when Firesteel starts "
                  "again. %1")
            .arg(m_detail);
    case State::Failed:
        break;
    }
    return tr("Conversations cannot be stored. What is said now is not kept. %1").arg(m_detail);
}

void DatabaseThread::setNotice(const QString &notice)
{
    if (notice == m_notice)
        return;
    m_notice = notice;
    Q_EMIT noticeChanged();
}

void DatabaseThread::dismissNotice() { setNotice({}); }

} // namespace firesteel::app
