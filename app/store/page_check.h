// SPDX-License-Identifier: MIT
//
// Checks every page of a database that is in use, on a thread of its own: after a crash a large
// file would otherwise keep people waiting. Reads one snapshot through a connection of its own.
// Owned by DatabaseThread's worker.
#pragma once

#include <QString>

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

struct sqlite3;

namespace firesteel::app {

class PageCheck
{
public:
    // `done` is called on the check's thread, with what is damaged, or nothing: all is well, the
    // check was stopped, or the file could not be read.
    PageCheck(QString file, std::function<void(std::optional<QString> damage)> done);
    ~PageCheck(); // stops at once
    PageCheck(const PageCheck &) = delete;
    PageCheck &operator=(const PageCheck &) = delete;

private:
    std::optional<QString> check();

    QString m_file;
    std::mutex m_mutex; // of what follows
    sqlite3 *m_running = nullptr; // the connection that checks
    bool m_isStopped = false;
    std::thread m_thread; // last: uses everything above
};

} // namespace firesteel::app
