// SPDX-License-Identifier: MIT
#include "app/store/database_thread.h"

#include "app/store/page_check.h"

#include <QCoreApplication>
#include <QLoggingCategory>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace firesteel::app {

namespace {

Q_LOGGING_CATEGORY(logStore, "firesteel.store", QtInfoMsg)

constexpr std::chrono::seconds kRetryAfter { 3 };

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

// Everything but post() and finish() happens on the database thread. The queue is this object's
// own, so that it knows what comes too late: that is answered at once, with an error, on the
// caller's thread. Events would wait for ever.
class DatabaseThread::Worker
{
public:
    using Task = std::function<void()>;

    Worker(DatabaseThread &owner, QString file, std::span<const Migration> steps)
        : m_owner(owner)
        , m_file(std::move(file))
        , m_database(steps)
    {
    }

    // Until finish(), and everything posted before has run.
    void run()
    {
        open();
        std::unique_lock lock(m_mutex);
        const auto isWanted = [this] { return !m_tasks.empty() || m_isFinishing; };
        while (true) {
            if (m_backlog.empty())
                m_changed.wait(lock, isWanted);
            else
                m_changed.wait_until(lock, m_nextTry, isWanted);
            if (m_tasks.empty() && m_isFinishing)
                break;
            Task task;
            if (!m_tasks.empty()) {
                task = std::move(m_tasks.front());
                m_tasks.pop_front();
            }
            lock.unlock();
            if (!m_backlog.empty() && Clock::now() >= m_nextTry)
                runBacklog();
            if (task)
                task();
            lock.lock();
        }
        lock.unlock();
        m_check.reset();
        runBacklog();
        m_backlog.clear();
        m_database.close(); // where it was opened
        lock.lock();
        m_hasEnded = true;
        const std::deque<Task> late = std::exchange(m_tasks, {});
        lock.unlock();
        for (const Task &task : late)
            task();
    }

    void post(Task task)
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (!m_hasEnded)
                m_tasks.push_back(std::exchange(task, {}));
        }
        if (task)
            task();
        else
            m_changed.notify_one();
    }

    void finish()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_isFinishing = true;
        }
        m_changed.notify_one();
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
    using Clock = std::chrono::steady_clock;

    void open()
    {
        m_database.open(m_file);
        const QString detail = m_database.trouble() ? m_database.trouble()->message : QString();
        report(stateFor(m_database), detail);
        if (!m_database.notice().isEmpty())
            QMetaObject::invokeMethod(&m_owner, [owner = &m_owner, notice = m_database.notice()] {
                owner->setNotice(notice);
            });
        if (m_database.access() == Database::Access::ReadWrite && m_database.wantsCheck())
            m_check.emplace(m_file, [this](const std::optional<QString> &damage) {
                if (damage)
                    post([this, damage] { noteError({ StoreErrorCode::Damaged, *damage }); });
            });
    }

    void stall(const StoreError &error)
    {
        if (!m_isStalled)
            qCWarning(logStore).noquote() << "waiting to write:" << error.message;
        m_isStalled = true;
        m_stall = error.message;
        m_nextTry = Clock::now() + kRetryAfter;
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
    std::deque<Change> m_backlog;
    Clock::time_point m_nextTry; // of it
    bool m_isStalled = false;
    QString m_stall;
    std::optional<PageCheck> m_check; // of the whole file, after a crash
    std::mutex m_mutex; // of what follows
    std::condition_variable m_changed;
    std::deque<Task> m_tasks;
    bool m_isFinishing = false;
    bool m_hasEnded = false; // the database is closed
};

namespace {

// Those of this process, on the GUI thread only.
std::vector<DatabaseThread *> &livingDatabases()
{
    static std::vector<DatabaseThread *> all;
    return all;
}

// At the end of the QCoreApplication, while it still exists: Qt's SQL does not work without.
void endDatabases()
{
    for (DatabaseThread *database : livingDatabases())
        database->end();
}

} // namespace

DatabaseThread::DatabaseThread(const QString &file, std::span<const Migration> steps,
                               QObject *parent)
    : QObject(parent)
    , m_worker(std::make_unique<Worker>(*this, file, steps))
    , m_thread(QThread::create([this] { m_worker->run(); }))
{
    if (livingDatabases().empty())
        qAddPostRoutine(endDatabases);
    livingDatabases().push_back(this);
    m_thread->setObjectName(QStringLiteral("database"));
    m_thread->start();
}

DatabaseThread::~DatabaseThread()
{
    end();
    std::erase(livingDatabases(), this);
    if (livingDatabases().empty())
        qRemovePostRoutine(endDatabases);
}

void DatabaseThread::end()
{
    m_worker->finish();
    m_thread->wait();
}

void DatabaseThread::post(Job job)
{
    m_worker->post([worker = m_worker.get(), job = std::move(job)] { worker->run(job); });
}

QFuture<StoreResult<void>> DatabaseThread::keep(Change change)
{
    auto promise = std::make_shared<QPromise<StoreResult<void>>>();
    promise->start();
    auto future = promise->future();
    m_worker->post([worker = m_worker.get(), change = std::move(change), promise]() mutable {
        worker->keep(std::move(change), promise);
    });
    return future;
}

void DatabaseThread::retry()
{
    m_worker->post([worker = m_worker.get()] { worker->runBacklog(); });
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
        return tr(
            "Firesteel is already running and has the stored chats open. What is said in this "
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
