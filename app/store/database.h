// SPDX-License-Identifier: MIT
//
// One SQLite file, open on the thread that made this object. It takes the lock, checks the file,
// makes a backup and migrates; it decides what an open file may be used for and says why. Owned by
// DatabaseThread's worker; it knows the tables only as migration steps.
#pragma once

#include "app/store/file_lock.h"
#include "app/store/migrations.h"
#include "app/store/salvage.h"
#include "app/store/store_error.h"

#include <QSqlDatabase>
#include <QString>

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace firesteel::app {

class Database
{
public:
    enum class Access { Closed, ReadOnly, ReadWrite };

    explicit Database(std::span<const Migration> steps = migrations());
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    // Opens or makes the file, once. Afterwards access() says what is possible and trouble() why it
    // is less than ReadWrite. A damaged file is set aside, never deleted, and what can be read of
    // it is copied into a new one; notice() then says so.
    void open(const QString &file);
    void close();

    Access access() const { return m_access; }
    const std::optional<StoreError> &trouble() const { return m_trouble; }
    const QString &notice() const { return m_notice; }
    const QSqlDatabase &connection() const { return m_connection; }

    // After a crash, in a file so large that checking it would keep people waiting. Nothing that
    // SQLite writes is lost by one, but a disk that lies may have lost it. For a PageCheck, once it
    // is open.
    bool wantsCheck() const { return m_wantsCheck; }

    // Makes the next start check every page. Called when a statement reports damage.
    void markDamaged() const;

    template <typename F> auto read(F &&work) -> std::invoke_result_t<F, const QSqlDatabase &>
    {
        if (m_access == Access::Closed)
            return std::unexpected(reason());
        return std::forward<F>(work)(m_connection);
    }

    // Runs work as one transaction. A failure leaves nothing of it behind.
    template <typename F> auto write(F &&work) -> std::invoke_result_t<F, const QSqlDatabase &>
    {
        if (m_access != Access::ReadWrite)
            return std::unexpected(reason());
        if (auto begun = begin(); !begun)
            return std::unexpected(begun.error());
        auto result = std::forward<F>(work)(m_connection);
        if (result) {
            if (auto committed = commit(); !committed)
                result = std::unexpected(committed.error());
        }
        if (!result)
            rollBack();
        return result;
    }

private:
    StoreError reason() const;
    void openWritable();
    void openReadOnly(const StoreError &why);
    StoreResult<void> connect(const QString &options);
    StoreResult<void> checkPages() const;
    StoreResult<void> setUpWriting() const;
    StoreResult<void> backUp() const;
    StoreResult<void> prepareTables();
    void replaceDamaged(const StoreError &damage);
    Salvaged salvageFrom(const QString &kept) const;
    void disconnect();
    bool isLarge() const;
    StoreResult<void> begin() const;
    StoreResult<void> commit() const;
    void rollBack() const;

    std::span<const Migration> m_steps;
    QString m_file;
    QString m_connectionName;
    QSqlDatabase m_connection;
    FileLock m_lock;
    Access m_access = Access::Closed;
    std::optional<StoreError> m_trouble;
    QString m_notice;
    bool m_wantsCheck = false;
};

} // namespace firesteel::app
