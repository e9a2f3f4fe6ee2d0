// SPDX-License-Identifier: MIT
#include "app/session_marker.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <utility>

namespace firesteel::app {

SessionMarker::SessionMarker(QString file)
    : m_file(std::move(file))
    , m_wasLeftBehind(QFileInfo::exists(m_file))
{
    QDir().mkpath(QFileInfo(m_file).path());
    QFile mark(m_file);
    if (mark.open(QIODevice::WriteOnly))
        mark.write("Firesteel runs, or its last run did not end properly.\n");
}

SessionMarker::~SessionMarker() { QFile::remove(m_file); }

} // namespace firesteel::app
