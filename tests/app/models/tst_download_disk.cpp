// SPDX-License-Identifier: MIT
//
// Downloads onto small file systems that fill up. Cases of their own suite: where this process may
// not mount, CTest says that it was skipped.
#include "tests/app/models/download_test.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QStorageInfo>
#include <QTest>

#include <sys/mount.h>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using State = app::ModelStatus::State;
using Kind = app::ModelProblem::Kind;

class DownloadDiskTest : public DownloadTest
{
    Q_OBJECT

private Q_SLOTS:
    void keepsWhatArrivedWhenTheDiskFills();
    void goesOnAfterTheDiskWasFull();
    void stopsBeforeOthersFillTheDisk();
};

// A file system of ten megabytes for twelve: the first files arrive, the rest when there is room.
void DownloadDiskTest::keepsWhatArrivedWhenTheDiskFills()
{
    QVERIFY(QDir().mkpath(modelsFolder()));
    const QByteArray path = QFile::encodeName(modelsFolder());
    if (::mount("tmpfs", path.constData(), "tmpfs", 0, "size=10m") != 0)
        QSKIP("mounting a small file system is not permitted here");
    open();
    m_session->accept();
    const bool failed = reach(State::Failed);
    const app::ModelStatus status = m_session->status();
    const bool grown = ::mount("tmpfs", path.constData(), "tmpfs", MS_REMOUNT, "size=40m") == 0;
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    const bool arrived = reach(State::Ready);
    const bool whole = isWhole();
    m_session.reset();
    ::umount2(path.constData(), MNT_DETACH);
    QVERIFY(failed);
    QCOMPARE(status.problem.kind, Kind::DiskFull);
    QVERIFY(grown && arrived && whole);
}

// A real file system that cannot reserve space: the file grows until a write fails in the middle of
// a range. Then there is room again, and nothing that had arrived is fetched twice.
void DownloadDiskTest::goesOnAfterTheDiskWasFull()
{
    QVERIFY(QDir().mkpath(modelsFolder()));
    const QString image = m_folder->filePath(u"disk.img"_s);
    QFile disk(image);
    QVERIFY(disk.open(QIODevice::WriteOnly) && disk.resize(24 << 20));
    disk.close();
    if (QProcess::execute(u"mke2fs"_s,
                          { u"-q"_s, u"-F"_s, u"-t"_s, u"ext2"_s, u"-m"_s, u"0"_s, image })
            != 0
        || QProcess::execute(u"mount"_s, { u"-o"_s, u"loop"_s, image, modelsFolder() }) != 0)
        QSKIP("making and mounting a small file system is not permitted here");
    const QString ballast = modelsFolder() + u"/of another program"_s;
    m_hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': 400000}]");
    open();
    m_session->accept();
    const bool begun
        = QTest::qWaitFor([&] { return m_session->status().bytes > 2'000'000; }, 20'000);
    // Another program takes what the preflight had found free, all but two megabytes. The download
    // goes on meanwhile, so the last of it may not fit.
    constexpr qint64 kLeft = 2'000'000;
    QFile other(ballast);
    if (other.open(QIODevice::WriteOnly))
        other.write(QByteArray(QStorageInfo(modelsFolder()).bytesAvailable() - kLeft, 'x'));
    other.close();
    const bool filled = QStorageInfo(modelsFolder()).bytesAvailable() <= kLeft;
    const bool failed = reach(State::Failed);
    const app::ModelStatus status = m_session->status();
    const bool kept = QFileInfo::exists(app::DownloadJob::partialFolder(modelFolder()));
    open(); // started again while the disk is full: it says so again, and fetches nothing for it
    const bool failedAgain = reach(State::Failed);
    const Kind kindAgain = m_session->status().problem.kind;
    const qint64 arrived = m_session->status().bytes;
    const bool freed = QFile::remove(ballast);
    m_hub.setFaults("[]");
    m_hub.forgetRequests();
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    const bool ready = reach(State::Ready);
    const bool whole = isWhole();
    const qint64 fetched = m_hub.sentBytes(QString());
    m_session.reset();
    QProcess::execute(u"umount"_s, { u"-l"_s, modelsFolder() });
    QVERIFY(begun && filled && failed && kept);
    QCOMPARE(status.problem.kind, Kind::DiskFull);
    QVERIFY2(status.problem.detail.contains(u"No space left"_s), qPrintable(status.problem.detail));
    QVERIFY(failedAgain);
    QCOMPARE(kindAgain, Kind::DiskFull);
    QVERIFY(freed && ready && whole);
    QVERIFY(arrived > 2'000'000);
    QCOMPARE(fetched, m_hub.totalBytes() - arrived);
}

// The floor: a download does not take the last of the disk, nor waits for a write to fail.
void DownloadDiskTest::stopsBeforeOthersFillTheDisk()
{
    QVERIFY(QDir().mkpath(modelsFolder()));
    const QByteArray path = QFile::encodeName(modelsFolder());
    if (::mount("tmpfs", path.constData(), "tmpfs", 0, "size=40m") != 0)
        QSKIP("mounting a small file system is not permitted here");
    app::DownloadManager::Setup careful = setup();
    careful.job.disk.floorBytes = 8'000'000;
    m_hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': 800000}]");
    open(careful);
    m_session->accept();
    const bool begun
        = QTest::qWaitFor([&] { return m_session->status().bytes > 1'000'000; }, 20'000);
    QFile other(modelsFolder() + u"/of another program"_s);
    const bool filled = other.open(QIODevice::WriteOnly)
        && other.write(QByteArray(24'000'000, 'x')) == 24'000'000 && other.flush();
    other.close();
    const bool failed = reach(State::Failed);
    const app::ModelStatus status = m_session->status();
    const bool freed = other.remove();
    m_hub.setFaults("[]");
    m_hub.forgetRequests();
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    const bool ready = reach(State::Ready);
    const bool whole = isWhole();
    const qint64 fetched = m_hub.sentBytes(QString());
    m_session.reset();
    ::umount2(path.constData(), MNT_DETACH);
    QVERIFY(begun && filled && failed);
    QCOMPARE(status.problem.kind, Kind::DiskFull);
    QVERIFY2(status.problem.detail.contains(u"are free in"_s), qPrintable(status.problem.detail));
    QVERIFY(freed && ready && whole);
    QCOMPARE(fetched, m_hub.totalBytes() - status.bytes);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DownloadDiskTest)
#include "tst_download_disk.moc"
