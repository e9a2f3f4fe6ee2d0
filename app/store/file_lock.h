// SPDX-License-Identifier: MIT
//
// Marks a file as owned by this process. The kernel drops the lock when the process ends, however
// it ends, so nothing stale is left behind a crash.
#pragma once

#include "app/store/store_error.h"

#include <QString>

namespace firesteel::app {

class FileLock
{
public:
    FileLock() = default;
    ~FileLock();
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;

    // Errors: InUse (another process or object holds it), ReadOnly (the file cannot be made).
    StoreResult<void> acquire(const QString &file);
    void release();

private:
    int m_descriptor = -1;
};

} // namespace firesteel::app
