// SPDX-License-Identifier: MIT
//
// A process that streams replies into the store is killed at random moments, again and again on the
// same file. Each time the database is whole, every question and every finished reply is there, and
// of the reply under way at most the last second is lost.
//
// FIRESTEEL_KILLS: how often (10); FIRESTEEL_SEED: of the moments; FIRESTEEL_KILLS_OUTPUT: a file
// for the losses as JSON. The second is asked for where FIRESTEEL_KILLS is set: among other tests a
// process may not run at all for that long.
#include "app/store/conversation_store.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QFile>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <vector>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::ConversationStore;
using app::DatabaseThread;
using app::RecordId;

constexpr qsizetype kPieceBytes = 8;
constexpr qint64 kMostLostMilliseconds = 1000;

qint64 monotonicMilliseconds()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// What the process said before it was killed.
struct Promises
{
    QList<RecordId> questions;
    QHash<RecordId, int> finished; // pieces
    RecordId reply = 0; // the last one
    std::vector<qint64> pieceTimes; // of it
};

Promises promisesIn(const QByteArray &output)
{
    Promises promises;
    QList<QByteArray> lines = output.split('\n');
    lines.removeLast(); // after the last line break: nothing, or a line cut short
    for (const QByteArray &line : lines) {
        const QList<QByteArray> words = line.split(' ');
        const RecordId id = words.value(1).toLongLong();
        if (words[0] == "q") {
            promises.questions << id;
        } else if (words[0] == "f") {
            promises.finished[id] = words.value(2).toInt();
        } else if (words[0] == "p") {
            if (id != promises.reply)
                promises.pieceTimes.clear();
            promises.reply = id;
            promises.pieceTimes.push_back(words.value(3).toLongLong());
        }
    }
    return promises;
}

struct Loss
{
    int pieces = 0;
    qint64 milliseconds = 0; // from the first lost piece to the kill
    int streamed = 0;
};

} // namespace

class StoreKillTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void losesAtMostASecond();

private:
    Promises runAndKill(int milliseconds, int seed, qint64 &killed);
    Loss check(const Promises &promises, qint64 killed);

    QTemporaryDir m_folder;
};

Promises StoreKillTest::runAndKill(int milliseconds, int seed, qint64 &killed)
{
    QProcess writer;
    writer.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    writer.start(QStringLiteral(STREAM_WRITER),
                 { m_folder.filePath(u"firesteel.db"_s), QString::number(seed) });
    if (!writer.waitForStarted())
        qFatal("cannot start %s", STREAM_WRITER);
    // From its first word on: before, there is nothing to lose.
    if (!writer.waitForReadyRead(30'000))
        qFatal("the writer says nothing");
    QByteArray output = writer.readAllStandardOutput();
    const qint64 end = monotonicMilliseconds() + milliseconds;
    for (qint64 left = milliseconds; left > 0; left = end - monotonicMilliseconds()) {
        writer.waitForReadyRead(static_cast<int>(left));
        output += writer.readAllStandardOutput();
    }
    killed = monotonicMilliseconds();
    ::kill(static_cast<pid_t>(writer.processId()), SIGKILL);
    writer.waitForFinished();
    output += writer.readAllStandardOutput();
    return promisesIn(output);
}

Loss StoreKillTest::check(const Promises &promises, qint64 killed)
{
    DatabaseThread database(m_folder.filePath(u"firesteel.db"_s));
    ConversationStore store(database);
    valueOf(waitFor(store.open()));
    const auto read = [&database](const QString &statement) {
        return valueOf(waitFor(database.read(
            [statement](const QSqlDatabase &sql) { return app::singleValue(sql, statement); })));
    };
    const QString integrity = read(u"PRAGMA integrity_check"_s).toString();
    if (integrity != u"ok"_s || !database.notice().isEmpty())
        qFatal("integrity_check: %s", qPrintable(integrity));
    if (read(u"SELECT count(*) FROM pragma_foreign_key_check"_s).toInt() != 0)
        qFatal("a foreign key points nowhere");
    if (read(u"SELECT count(*) FROM reply_parts"_s).toInt() != 0)
        qFatal("a reply was not completed");
    const auto length = [&read](RecordId id) {
        return read(u"SELECT length(text) + length(thinking) FROM messages WHERE id = %1"_s.arg(id))
            .toLongLong();
    };
    for (const RecordId question : promises.questions) {
        if (read(u"SELECT text FROM messages WHERE id = %1"_s.arg(question)).toString()
            != u"question"_s)
            qFatal("a question is lost");
    }
    for (const auto &[reply, pieces] : promises.finished.asKeyValueRange()) {
        const bool isWhole = length(reply) == pieces * kPieceBytes
            && read(u"SELECT length(tokens) FROM messages WHERE id = %1"_s.arg(reply)).toInt()
                == pieces * 4;
        if (!isWhole)
            qFatal("a finished reply is not whole");
    }
    if (promises.pieceTimes.empty())
        return {};
    const auto kept = static_cast<std::size_t>(length(promises.reply) / kPieceBytes);
    Loss loss;
    loss.streamed = static_cast<int>(promises.pieceTimes.size());
    if (kept < promises.pieceTimes.size()) {
        loss.pieces = static_cast<int>(promises.pieceTimes.size() - kept);
        loss.milliseconds = killed - promises.pieceTimes[kept];
    }
    return loss;
}

void StoreKillTest::losesAtMostASecond()
{
    bool isAsked = false;
    const int asked = qEnvironmentVariableIntValue("FIRESTEEL_KILLS", &isAsked);
    const int kills = isAsked ? asked : 10;
    QVERIFY2(kills > 0, "FIRESTEEL_KILLS");
    const auto seed = static_cast<unsigned>(qEnvironmentVariableIntValue("FIRESTEEL_SEED"));
    std::mt19937 random(seed);
    QJsonArray losses;
    std::vector<qint64> lost; // ms
    qint64 worst = 0;
    for (int round = 0; round < kills; ++round) {
        qint64 killed = 0;
        const Promises promises
            = runAndKill(std::uniform_int_distribution(1, 2500)(random), round, killed);
        const Loss loss = check(promises, killed);
        worst = std::max(worst, loss.milliseconds);
        lost.push_back(loss.milliseconds);
        losses.append(QJsonObject { { u"milliseconds"_s, loss.milliseconds },
                                    { u"pieces"_s, loss.pieces },
                                    { u"streamed"_s, loss.streamed },
                                    { u"questions"_s, promises.questions.size() },
                                    { u"finished"_s, promises.finished.size() } });
        QVERIFY2(!isAsked || loss.milliseconds <= kMostLostMilliseconds,
                 qPrintable(u"kill %1 lost %2 ms"_s.arg(QString::number(round),
                                                        QString::number(loss.milliseconds))));
    }
    qInfo("%d kills, at most %lld ms of a reply lost", kills, worst);
    const QString output = qEnvironmentVariable("FIRESTEEL_KILLS_OUTPUT");
    if (output.isEmpty())
        return;
    QFile file(output);
    QVERIFY(file.open(QIODevice::WriteOnly));
    std::ranges::sort(lost);
    file.write(QJsonDocument(QJsonObject { { u"kills"_s, kills },
                                           { u"seed"_s, static_cast<qint64>(seed) },
                                           { u"median_milliseconds"_s, lost[lost.size() / 2] },
                                           { u"worst_milliseconds"_s, worst },
                                           { u"losses"_s, losses } })
                   .toJson());
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::StoreKillTest)
#include "tst_store_kill.moc"
