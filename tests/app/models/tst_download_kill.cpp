// SPDX-License-Identifier: MIT
//
// Kills a download at random moments, as often as FIRESTEEL_KILLS says, and lets the next process
// go on. Prints how many bytes were fetched twice.
#include "tests/app/models/hub_fixture.h"

#include <QFile>
#include <QRandomGenerator>
#include <QTest>

#include <csignal>

using namespace firesteel;
using namespace firesteel::test;
using namespace Qt::Literals::StringLiterals;

class DownloadKillTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void goesOnAfterEveryKill();
};

void DownloadKillTest::goesOnAfterEveryKill()
{
    HubFixture hub;
    if (HubFixture::findNginx().isEmpty())
        QSKIP("nginx is not installed"); // CTest reports the whole suite as skipped
    const QString problem = hub.start();
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    const QTemporaryDir folder;
    const QString catalog = folder.filePath(u"catalog.json"_s);
    QFile file(catalog);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(hub.catalogJson());
    file.close();
    // Four connections of it: the whole takes about fourteen seconds.
    constexpr int kBytesPerSecond = 250'000;
    hub.setFaults("[{'side': 'content', 'slow': " + QByteArray::number(kBytesPerSecond) + "}]");

    const int kills = qEnvironmentVariableIntValue("FIRESTEEL_KILLS") > 0
        ? qEnvironmentVariableIntValue("FIRESTEEL_KILLS")
        : 4;
    const QStringList arguments { hub.endpoint().toString(), folder.filePath(u"models"_s),
                                  folder.filePath(u"firesteel.db"_s), catalog };
    QRandomGenerator random(20261130);
    int killed = 0;
    for (; killed < kills; ++killed) {
        QProcess process;
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process.start(QStringLiteral(FIRESTEEL_DOWNLOAD_RUNNER), arguments);
        QVERIFY(process.waitForStarted());
        if (process.waitForFinished(random.bounded(100, 2500))) {
            QCOMPARE(process.exitCode(), 0); // it was ready before the kill
            break;
        }
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished());
    }
    const qint64 untilLastKill = hub.sentBytes(QString());
    hub.setFaults("[]");
    QProcess last;
    last.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    last.start(QStringLiteral(FIRESTEEL_DOWNLOAD_RUNNER), arguments);
    QVERIFY(last.waitForFinished(60'000));
    QCOMPARE(last.exitCode(), 0);

    const QString model = app::DownloadManager::folderOf(arguments[1], kRepository, kRevision);
    for (const HubFileContent &expected : hub.files()) {
        QFile arrived(model + u'/' + expected.path);
        QVERIFY2(arrived.open(QIODevice::ReadOnly), qPrintable(expected.path));
        QVERIFY2(arrived.readAll() == expected.bytes, qPrintable(expected.path));
    }
    QVERIFY(!QFile::exists(app::DownloadJob::partialFolder(model)));
    // The licence file's text is read once more with the terms; it comes from the same server.
    const qint64 twice = hub.sentBytes(QString()) - hub.totalBytes();
    qInfo("%d kills: %lld bytes in all, %lld of them fetched twice; %lld sent before the last run",
          killed, hub.totalBytes(), twice, untilLastKill);
    // A kill loses what came since the last checkpoint, one second before, and what the sockets
    // of both ends hold: for each of four connections a second's bytes and at most 4 MiB + 2 MiB.
    const qint64 perKill = 4LL * kBytesPerSecond + 4LL * (6 << 20);
    QVERIFY2(twice <= (killed + 1) * perKill, qPrintable(QString::number(twice)));
}

QTEST_GUILESS_MAIN(DownloadKillTest)
#include "tst_download_kill.moc"
