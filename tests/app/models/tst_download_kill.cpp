// SPDX-License-Identifier: MIT
//
// Kills a download at random moments, as often as FIRESTEEL_KILLS says (4 without), and lets the
// next process go on. What the database knew at a kill must not be asked for again; what came after
// the last checkpoint is fetched twice, and its sum is printed. FIRESTEEL_KILL_REPORT names a file
// that gets the figures of every kill as JSON.
#include "tests/app/models/hub_fixture.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <optional>

using namespace firesteel;
using namespace firesteel::test;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kLongestRun = 2500; // milliseconds before a kill

// What the database knows of the weights; nothing before the list of files was stored.
std::optional<std::optional<app::DownloadFileRow>> weightsIn(const QString &database)
{
    app::DatabaseThread thread(database);
    const auto stored = thread.read(app::readStoredModels).result(); // waits
    if (!stored)
        return std::nullopt;
    for (const app::DownloadRow &row : stored->downloads) {
        for (const app::DownloadFileRow &file : row.files) {
            if (file.file.path == u"weights.safetensors"_s)
                return std::optional(file);
        }
    }
    return std::optional<app::DownloadFileRow>();
}

qint64 bytesOf(const std::optional<app::DownloadFileRow> &row)
{
    return row ? row->progress.bytes() : 0;
}

// Whether no range that was asked for holds a byte that was known to be on the disk.
bool asksOnlyForTheUnknown(const QJsonArray &requests,
                           const std::optional<app::DownloadFileRow> &known)
{
    if (!known)
        return true;
    return std::ranges::none_of(requests, [&](const QJsonValue &request) {
        if (request["side"_L1] != "content"_L1
            || !request["path"_L1].toString().contains("weights"_L1))
            return false;
        const QStringList range = request["range"_L1].toString().section(u'=', 1).split(u'-');
        const qint64 first = range.first().toLongLong();
        const qint64 last = range.last().toLongLong();
        const bool isRepeated
            = range.size() != 2 || first < known->progress.frontier
            || std::ranges::any_of(
                  known->progress.ahead,
                  [&](const auto &span) { return first < span.second && last >= span.first; });
        if (isRepeated)
            qWarning("asked for again: %s", qPrintable(request["range"_L1].toString()));
        return isRepeated;
    });
}

} // namespace

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
    const int kills = qEnvironmentVariableIntValue("FIRESTEEL_KILLS") > 0
        ? qEnvironmentVariableIntValue("FIRESTEEL_KILLS")
        : 4;
    // Slow enough that every kill finds it under way: on its four connections the whole would take
    // longer than all runs together.
    const auto bytesPerSecond
        = static_cast<int>(kWeightsBytes * 1000 / (4LL * kLongestRun * (kills + 1)));
    hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': "
                  + QByteArray::number(bytesPerSecond) + "}]");
    const QStringList arguments { hub.endpoint().toString(), folder.filePath(u"models"_s),
                                  folder.filePath(u"firesteel.db"_s), catalog };
    QRandomGenerator random(20261130);
    QJsonArray report;
    qint64 lost = 0; // and fetched twice
    std::optional<app::DownloadFileRow> known; // of the weights, before a run
    for (int killed = 0; killed < kills; ++killed) {
        hub.forgetRequests();
        QProcess process;
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process.start(QStringLiteral(FIRESTEEL_DOWNLOAD_RUNNER), arguments);
        QVERIFY(process.waitForStarted());
        const int milliseconds = random.bounded(100, kLongestRun);
        QVERIFY2(!process.waitForFinished(milliseconds), "ended before it was killed");
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::CrashExit);
        QVERIFY(asksOnlyForTheUnknown(hub.requests(), known));
        const auto before = known;
        const auto stored = weightsIn(arguments[2]);
        QVERIFY(stored.has_value());
        known = *stored;
        const qint64 sent = hub.sentBytes(u"weights"_s);
        const qint64 gained = bytesOf(known) - bytesOf(before);
        QVERIFY(gained >= 0); // no kill loses what was known
        report << QJsonObject { { u"milliseconds"_s, milliseconds },
                                { u"sent"_s, sent },
                                { u"kept"_s, gained },
                                { u"lost"_s, sent - gained } };
        lost += sent - gained;
    }
    hub.forgetRequests();
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
    QVERIFY(asksOnlyForTheUnknown(hub.requests(), known));
    QCOMPARE(hub.sentBytes(u"weights"_s), kWeightsBytes - bytesOf(known)); // the rest, once
    qInfo("%d kills: %lld bytes of weights, %lld fetched twice (%.2f %%), %lld a kill", kills,
          kWeightsBytes, lost, 100.0 * static_cast<double>(lost) / kWeightsBytes, lost / kills);
    if (const QString path = qEnvironmentVariable("FIRESTEEL_KILL_REPORT"); !path.isEmpty()) {
        QFile written(path);
        QVERIFY(written.open(QIODevice::WriteOnly));
        written.write(QJsonDocument(QJsonObject { { u"weightsBytes"_s, kWeightsBytes },
                                                  { u"bytesPerSecond"_s, 4 * bytesPerSecond },
                                                  { u"kills"_s, report },
                                                  { u"fetchedTwice"_s, lost } })
                          .toJson());
    }
}

QTEST_GUILESS_MAIN(DownloadKillTest)
#include "tst_download_kill.moc"
