// SPDX-License-Identifier: MIT
//
// Brings one file of a repository to the disk: ranges in parallel over a signed address that is
// asked for again when it expires, waits that grow after failures, and a digest at the end. Made
// by DownloadJob on the download thread; it knows nothing of the database.
#pragma once

#include "app/models/hub_client.h"
#include "app/models/part_file.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <QUrl>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace firesteel::app {

struct TransferSetup
{
    qint64 rangeBytes = 16 << 20; // of one request
    int rangesPerFile = 4; // at once; also bounds what waits in memory for the hash
    std::chrono::milliseconds firstPause { 1000 }; // after a failure; doubles each time
    std::chrono::milliseconds longestPause { 60'000 };
    int failuresInARow = 10; // without one new byte: give up
};

class FileDownload : public QObject
{
    Q_OBJECT

public:
    FileDownload(HubClient &client, const TransferSetup &setup, QUrl url, HubFile file,
                 QString partPath, QObject *parent = nullptr);
    ~FileDownload() override;

    // Opens the part file and begins; an error is the disk's.
    ModelResult<void> start(const FileProgress &saved);

    const HubFile &file() const { return m_file; }
    qint64 bytes() const { return m_part ? m_part->bytes() : 0; }
    qint64 receivedBytes() const { return m_received; } // off the network, repeats included
    ModelResult<FileProgress> checkpoint();
    void restart(); // from the first byte; after completed()
    void forget() { m_part->restart(); } // what has arrived, for the next checkpoint()
    // Gives the file its name; after completed(). ContentMismatch: other bytes than published.
    ModelResult<void> finish(const QString &path) { return m_part->finish(path); }

    // Why nothing moves, and until when; nothing while bytes arrive.
    const std::optional<ModelProblem> &trouble() const { return m_trouble; }
    std::chrono::milliseconds pauseLeft() const;

Q_SIGNALS:
    void completed(); // all bytes are here; the digest is the caller's to check by finish()
    void failed(const firesteel::app::ModelProblem &problem);

private:
    struct Fetch
    {
        HubRange range; // still expected
        std::unique_ptr<HubRequest> request;
        bool isChecked = false; // the answer is the range asked for
        bool isOver = false;
    };

    void pump();
    void begin(HubRange range, bool whole);
    std::optional<HubRange> nextRange() const;
    bool check(Fetch &fetch);
    void take(Fetch &fetch);
    void end(Fetch &fetch);
    void fault(ModelProblem problem);
    void giveUp(const ModelProblem &problem);
    void sweep();

    HubClient &m_client;
    TransferSetup m_setup;
    QUrl m_url; // at the endpoint
    QUrl m_signed; // where it redirected to last; empty: ask
    HubFile m_file;
    QString m_partPath;
    std::unique_ptr<PartFile> m_part;
    std::vector<std::unique_ptr<Fetch>> m_fetches;
    qint64 m_received = 0;
    int m_failures = 0; // in a row
    int m_ignoredRanges = 0; // in a row
    int m_expiries = 0; // of signed addresses, in a row
    bool m_isWholeOnly = false; // the server knows no ranges: one stream from the start
    bool m_isOver = false;
    std::optional<ModelProblem> m_trouble;
    QTimer m_pause;
    QTimer m_pumpSoon;
};

} // namespace firesteel::app
