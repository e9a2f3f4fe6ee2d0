// SPDX-License-Identifier: MIT
#include "app/store/file_lock.h"

#include <QCoreApplication>
#include <QFile>

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace firesteel::app {

FileLock::~FileLock() { release(); }

StoreResult<void> FileLock::acquire(const QString &file)
{
    release();
    constexpr mode_t kOwnerOnly = 0600;
    const int descriptor
        = ::open(QFile::encodeName(file).constData(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
    if (descriptor < 0)
        return storeFailure(
            StoreErrorCode::ReadOnly,
            QCoreApplication::translate("Store", "%1 cannot be written: %2.")
                .arg(file, QString::fromStdString(std::generic_category().message(errno))));
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        ::close(descriptor);
        return storeFailure(
            StoreErrorCode::InUse,
            QCoreApplication::translate("Store", "Another running Firesteel uses %1.").arg(file));
    }
    m_descriptor = descriptor;
    return {};
}

void FileLock::release()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
    m_descriptor = -1;
}

} // namespace firesteel::app
