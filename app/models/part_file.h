// SPDX-License-Identifier: MIT
//
// A file on its way: ranges arrive in any order within a window, the disk gets them at once, the
// hash gets them in order. Bytes that are ahead of the hash stay in memory until it reaches them,
// so nothing is read back; after a restart the few that were ahead are read once from the disk.
// Why so: SHA-256 has no parallel form, and reading 85 GB again costs minutes of a slow disk.
//
// Used by FileDownload on the download thread.
#pragma once

#include "app/models/hub_protocol.h"
#include "app/models/model_problem.h"
#include "app/models/model_tables.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>

namespace firesteel::app {

class PartFile
{
public:
    // Opens or makes `path` and claims the file's whole size on the disk, so that a full disk is
    // known before hours of download. `saved` is believed as far as the file on the disk bears it
    // out.
    static ModelResult<PartFile> open(const QString &path, const HubFile &file,
                                      const FileProgress &saved);
    ~PartFile();
    PartFile(PartFile &&) noexcept;
    PartFile &operator=(PartFile &&) noexcept;

    // Bytes that are here already are ignored.
    ModelResult<void> write(qint64 offset, QByteArrayView bytes);

    qint64 frontier() const { return m_frontier; }
    qint64 bytes() const; // on the disk
    bool isComplete() const { return m_frontier == m_file.size; }
    // First bytes in [from, limit) that are not here.
    std::optional<HubRange> gap(qint64 from, qint64 limit) const;

    // Waits until what was written is on the disk; only then may it be stored as progress.
    ModelResult<FileProgress> checkpoint();
    void restart(); // forgets everything

    // Compares the digest, waits for the disk and gives the file its name. ContentMismatch leaves
    // the part file.
    ModelResult<void> finish(const QString &path);

private:
    PartFile(int descriptor, QString path, HubFile file);

    ModelResult<void> hashReached();
    void claim(qint64 begin, qint64 end);

    int m_descriptor = -1;
    QString m_path;
    HubFile m_file;
    ContentHash m_hash;
    qint64 m_frontier = 0;
    std::map<qint64, qint64> m_ahead; // begin -> end, disjoint, past the frontier
    std::map<qint64, QByteArray> m_pending; // of those, what is still in memory
};

} // namespace firesteel::app
