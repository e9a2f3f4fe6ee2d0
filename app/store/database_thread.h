// SPDX-License-Identifier: MIT
//
// The one thread that runs SQL. Components hand it functions and get futures; nobody waits for it.
// Functions run in the order they were handed over. Owned by Application, which destroys it after
// everything that writes.
//
//     m_database.write([id](const QSqlDatabase &sql) { return forgetDownload(sql, id); })
//         .then(this, [this](const StoreResult<void> &done) { ... });
#pragma once

#include "app/store/database.h"
#include "app/store/store_error.h"

#include <QFuture>
#include <QObject>
#include <QPromise>
#include <QString>
#include <QThread>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace firesteel::app {

class DatabaseThread : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the database")
    Q_PROPERTY(State state READ state NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString stateText READ stateText NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString notice READ notice NOTIFY noticeChanged FINAL)

public:
    enum class State {
        Opening,
        Ready,
        Stalled, // a write failed and is tried again: the disk is full or refuses
        ReadOnly, // what is there can be read, nothing is kept
        InUse, // likewise: another process writes
        Newer, // written by a later version; neither read nor changed
        Damaged, // found while running; repaired at the next start
        Failed, // nothing can be read or kept
    };
    Q_ENUM(State)

    explicit DatabaseThread(const QString &file, std::span<const Migration> steps = migrations(),
                            QObject *parent = nullptr);
    // After everything handed over has run.
    ~DatabaseThread() override;

    // The same, before: what is handed over later fails with Unavailable. Called by the end of the
    // QCoreApplication, which a database may outlive.
    void end();

    State state() const { return m_state; }
    QString stateText() const; // what it means for a person; empty when Ready or Opening
    QString notice() const { return m_notice; } // of a repair, until dismissed
    Q_INVOKABLE void dismissNotice();
    Q_INVOKABLE void retry(); // what Stalled waits for, now

    // work: StoreResult<T>(const QSqlDatabase &), on the database thread. Reads see whatever was
    // written before.
    template <typename F> auto read(F work)
    {
        return submit(
            [work = std::move(work)](Database &database) mutable { return database.read(work); });
    }

    // One transaction; when it fails it is rolled back and forgotten.
    template <typename F> auto write(F work)
    {
        return submit(
            [work = std::move(work)](Database &database) mutable { return database.write(work); });
    }

    // One transaction that must not get lost: while the disk is full it is kept and tried again, in
    // order, until it succeeds. The future ends with the first try.
    using Change = std::function<StoreResult<void>(const QSqlDatabase &)>;
    QFuture<StoreResult<void>> keep(Change change);

Q_SIGNALS:
    void stateChanged();
    void noticeChanged();

private:
    class Worker;
    using Job = std::function<void(Database &)>;

    void post(Job job);
    void noteError(const StoreError &error); // from the database thread
    void setState(State state, const QString &detail);
    void setNotice(const QString &notice);

    template <typename F> auto submit(F work) -> QFuture<std::invoke_result_t<F, Database &>>
    {
        using R = std::invoke_result_t<F, Database &>;
        auto promise = std::make_shared<QPromise<R>>();
        promise->start();
        auto future = promise->future();
        post([this, promise, work = std::move(work)](Database &database) mutable {
            R result = work(database);
            if (!result)
                noteError(result.error());
            promise->addResult(std::move(result));
            promise->finish();
        });
        return future;
    }

    State m_state = State::Opening;
    QString m_detail;
    QString m_notice;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<QThread> m_thread; // runs it
};

} // namespace firesteel::app
