// SPDX-License-Identifier: MIT
//
// One window for a person's data: who is first, who is raised, what a crash leaves behind.
#include "app/single_instance.h"

#include <QLocalSocket>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QtConcurrentRun>

#include <algorithm>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;
using Claim = SingleInstance::Claim;

namespace {

// Another process would block in claim() while this one answers.
QFuture<Claim> claimElsewhere(const QString &socket, const QByteArray &token, int milliseconds)
{
    return QtConcurrent::run([=] { return SingleInstance(socket).claim(token, milliseconds); });
}

bool isFinished(const QFuture<Claim> &future)
{
    return QTest::qWaitFor([&future] { return future.isFinished(); }, 20'000);
}

} // namespace

class TestSingleInstance : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSecondRaisesTheFirst();
    void tokensThatAreNoneAreLeftOut();
    void theClaimEndsWithItsOwner();
    void aSocketOfACrashIsReplaced();
    void aFirstOneThatHangsDoesNotAnswer();
    void strangeClientsAreSentAway();
    void anUnwritablePlaceMakesNoClaim();
    void socketsAreOnePerFolderOfData();

    void init() { ++m_count; } // before each

private:
    QString socket() const { return m_folder.filePath(u"firesteel-%1"_s.arg(m_count)); }

    QTemporaryDir m_folder;
    int m_count = 0;
};

void TestSingleInstance::theSecondRaisesTheFirst()
{
    SingleInstance first(socket());
    QSignalSpy raised(&first, &SingleInstance::raiseRequested);
    QCOMPARE(first.claim({}), Claim::First);
    for (int i = 1; i <= 3; ++i) {
        const QFuture<Claim> second
            = claimElsewhere(socket(), "token-"_ba + QByteArray::number(i), 10'000);
        QVERIFY(isFinished(second));
        QCOMPARE(second.result(), Claim::Raised);
        QCOMPARE(raised.size(), i);
        QCOMPARE(raised.last().first().toByteArray(), "token-"_ba + QByteArray::number(i));
    }
}

void TestSingleInstance::tokensThatAreNoneAreLeftOut()
{
    SingleInstance first(socket());
    QSignalSpy raised(&first, &SingleInstance::raiseRequested);
    QCOMPARE(first.claim({}), Claim::First);
    const QFuture<Claim> second = claimElsewhere(socket(), "two words\nand a line", 10'000);
    QVERIFY(isFinished(second));
    QCOMPARE(second.result(), Claim::Raised);
    QCOMPARE(raised.last().first().toByteArray(), QByteArray());
}

void TestSingleInstance::theClaimEndsWithItsOwner()
{
    {
        SingleInstance first(socket());
        QCOMPARE(first.claim({}), Claim::First);
    }
    SingleInstance next(socket());
    QCOMPARE(next.claim({}), Claim::First);
}

void TestSingleInstance::aSocketOfACrashIsReplaced()
{
    const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address {};
    address.sun_family = AF_UNIX;
    const QByteArray path = socket().toUtf8();
    QVERIFY(static_cast<std::size_t>(path.size()) < sizeof(address.sun_path));
    std::copy(path.begin(), path.end(), address.sun_path);
    QCOMPARE(::bind(left, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
    ::close(left);
    QVERIFY(QFile::exists(socket()));

    SingleInstance first(socket());
    QCOMPARE(first.claim({}), Claim::First);
    const QFuture<Claim> second = claimElsewhere(socket(), {}, 10'000);
    QVERIFY(isFinished(second));
    QCOMPARE(second.result(), Claim::Raised);
}

void TestSingleInstance::aFirstOneThatHangsDoesNotAnswer()
{
    SingleInstance first(socket());
    QCOMPARE(first.claim({}), Claim::First);
    SingleInstance second(socket()); // in this thread: nobody runs the first one's events
    QCOMPARE(second.claim({}, 200), Claim::Unanswered);
}

void TestSingleInstance::strangeClientsAreSentAway()
{
    SingleInstance first(socket());
    QSignalSpy raised(&first, &SingleInstance::raiseRequested);
    QCOMPARE(first.claim({}), Claim::First);
    QLocalSocket stranger;
    for (const QByteArray &text :
         { "open /etc/passwd\n"_ba, "raised\n"_ba, QByteArray(4096, 'x') }) {
        stranger.connectToServer(socket());
        QTRY_COMPARE(stranger.state(), QLocalSocket::ConnectedState);
        stranger.write(text);
        QTRY_COMPARE(stranger.state(), QLocalSocket::UnconnectedState);
        QVERIFY(stranger.readAll().isEmpty());
    }
    QCOMPARE(raised.size(), 0);
}

void TestSingleInstance::anUnwritablePlaceMakesNoClaim()
{
    // The store has a lock of its own; the program runs.
    SingleInstance lonely(u"/proc/nowhere/firesteel"_s);
    QCOMPARE(lonely.claim({}), Claim::First);
}

void TestSingleInstance::socketsAreOnePerFolderOfData()
{
    const QString one = SingleInstance::socketFor(u"/srv/run"_s, u"/srv/data"_s);
    QCOMPARE(SingleInstance::socketFor(u"/srv/run"_s, u"/srv/./data"_s), one);
    QVERIFY(SingleInstance::socketFor(u"/srv/run"_s, u"/tmp/other"_s) != one);
    QVERIFY(one.startsWith(u"/srv/run/firesteel-"_s));
    QVERIFY(one.size() < 60); // names of sockets are short
}

QTEST_GUILESS_MAIN(TestSingleInstance)

#include "tst_single_instance.moc"
