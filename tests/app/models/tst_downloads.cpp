// SPDX-License-Identifier: MIT
//
// Downloads from nginx behind a proxy that breaks things: each ends in verified files or in a
// clear state, and no credential reaches the second host.
#include "tests/app/models/download_test.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <sys/stat.h>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using State = app::ModelStatus::State;
using Kind = app::ModelProblem::Kind;

class DownloadsTest : public DownloadTest
{
    Q_OBJECT

private Q_SLOTS:
    void bringsEverythingOnce();
    void arrivesInSpiteOf_data();
    void arrivesInSpiteOf();
    void endsInAClearState_data();
    void endsInAClearState();
    void goesOnWithoutSignaturesThatExpired();
    void sendsTheTokenToTheHubOnly();
    void pausesAndGoesOnAfterARestart();
    void cancelsForGood();
    void refusesWhatDoesNotFit();
    void goesThroughAProxy();
};

void DownloadsTest::bringsEverythingOnce()
{
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    const app::ModelStatus status = m_session->status();
    QCOMPARE(status.folder, modelFolder());
    QCOMPARE(status.bytes, m_hub.totalBytes());
    QCOMPARE(status.totalBytes, m_hub.totalBytes());
    QCOMPARE(status.consent->licenseId, u"MIT"_s);
    QCOMPARE(status.consent->textSource, u"LICENSE"_s);
    // The licence was read for the terms and for the list as well; everything else was sent once.
    QTRY_COMPARE(m_hub.sentBytes(QString()), m_hub.totalBytes() + 2 * kLicenseBytes);
    // And in several ranges at once.
    const QJsonArray requests = m_hub.requests();
    const auto ranges = std::ranges::count_if(requests, [](const QJsonValue &request) {
        return request["side"_L1] == "content"_L1
            && request["path"_L1].toString().contains("weights"_L1)
            && !request["range"_L1].toString().isEmpty();
    });
    QCOMPARE(ranges, kWeightsBytes / 1'000'000);
}

void DownloadsTest::arrivesInSpiteOf_data()
{
    QTest::addColumn<QByteArray>("faults");
    const auto row
        = [](const char *name, const char *rules) { QTest::newRow(name) << QByteArray(rules); };
    row("one cut", "[{'side': 'content', 'path': 'weights', 'times': 1, 'cut': 300000}]");
    row("many cuts", "[{'side': 'content', 'path': 'weights', 'times': 12, 'cut': 400000}]");
    row("cuts before the first byte",
        "[{'side': 'content', 'path': 'weights', 'times': 3, 'cut': 0}]");
    row("a stall", "[{'side': 'content', 'path': 'weights', 'times': 1, 'stall': 200000}]");
    row("200 for 206, twice",
        "[{'side': 'content', 'path': 'weights', 'times': 2, 'whole': true}]");
    row("200 for 206, always", "[{'side': 'content', 'path': 'weights', 'whole': true}]");
    row("200 for 206, cut",
        "[{'side': 'content', 'path': 'weights', 'times': 6, 'whole': true,"
        " 'cut': 5000000}, {'side': 'content', 'path': 'weights', 'whole': true}]");
    row("another range", "[{'side': 'content', 'path': 'weights', 'times': 2, 'shift': 1000}]");
    row("a wrong byte once",
        "[{'side': 'content', 'path': 'weights', 'times': 1, 'corrupt': true}]");
    row("a wrong small file once",
        "[{'side': 'content', 'path': 'tokens', 'times': 1, 'corrupt': true}]");
    row("429",
        "[{'side': 'hub', 'path': 'resolve', 'times': 2, 'status': 429,"
        " 'headers': {'Retry-After': '1'}}]");
    row("429 with RateLimit",
        "[{'side': 'hub', 'path': 'tree', 'times': 1, 'status': 429,"
        " 'headers': {'RateLimit': '\\\"api\\\";r=0;t=0'}}]");
    row("503 of the hub", "[{'side': 'hub', 'times': 2, 'status': 503}]");
    row("503 of the content server", "[{'side': 'content', 'skip': 4, 'times': 3, 'status': 503}]");
    row("403 of a signed address", "[{'side': 'content', 'skip': 5, 'times': 3, 'status': 403}]");
    row("408", "[{'side': 'content', 'times': 1, 'status': 408}]");
}

void DownloadsTest::arrivesInSpiteOf()
{
    QFETCH(QByteArray, faults);
    m_hub.setFaults(faults.replace("\\\"", "\\'"));
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
}

void DownloadsTest::endsInAClearState_data()
{
    QTest::addColumn<QByteArray>("faults");
    QTest::addColumn<Kind>("kind");
    const auto row = [](const char *name, const char *rules, Kind kind) {
        QTest::newRow(name) << QByteArray(rules) << kind;
    };
    row("wrong bytes", "[{'side': 'content', 'path': 'weights', 'corrupt': true}]",
        Kind::ContentMismatch);
    row("401", "[{'side': 'hub', 'path': 'resolve', 'status': 401}]", Kind::TokenNeeded);
    row("403 gated",
        "[{'side': 'hub', 'path': 'resolve', 'status': 403,"
        " 'headers': {'X-Error-Code': 'GatedRepo'}}]",
        Kind::TokenNeeded);
    row("404",
        "[{'side': 'hub', 'path': 'weights', 'status': 404,"
        " 'headers': {'X-Error-Code': 'EntryNotFound'}}]",
        Kind::FileNotFound);
    row("503 for ever", "[{'side': 'content', 'path': 'weights', 'status': 503}]",
        Kind::ServerBusy);
    row("cut for ever", "[{'side': 'content', 'path': 'weights', 'cut': 0}]", Kind::Offline);
    row("signatures never hold", "[{'side': 'content', 'status': 403}]", Kind::Refused);
    row("taken down",
        "[{'side': 'hub', 'path': 'resolve', 'status': 403, 'headers':"
        " {'X-Error-Message': 'Access to this resource is disabled.'}}]",
        Kind::TakenDown);
    row("redirects in a circle",
        "[{'side': 'hub', 'path': 'weights', 'redirect': '/owner/model/resolve/x/weights'}]",
        Kind::BadAnswer);
    row("a redirect to a file",
        "[{'side': 'hub', 'path': 'weights', 'redirect': 'file:///etc/passwd'}]", Kind::BadAnswer);
}

// And what has arrived is not fetched again when the trouble is over.
void DownloadsTest::endsInAClearState()
{
    QFETCH(const QByteArray, faults);
    QFETCH(const Kind, kind);
    open();
    m_session->accept();
    QTRY_VERIFY(m_session->terms());
    m_hub.setFaults(faults);
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, kind);
    QVERIFY(!QFileInfo::exists(modelFolder()));
    QTest::qWait(300);
    QCOMPARE(m_session->status().state, State::Failed); // nobody tries again unasked
    m_hub.setFaults("[]");
    const qint64 arrived = m_session->status().bytes;
    m_hub.forgetRequests();
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    // The licence is read again where the list of files was not there yet.
    const qint64 left = m_hub.totalBytes() - arrived;
    QTRY_VERIFY(m_hub.sentBytes(QString()) == left
                || (arrived == 0 && m_hub.sentBytes(QString()) == left + kLicenseBytes));
}

void DownloadsTest::goesOnWithoutSignaturesThatExpired()
{
    m_hub.setLifetime(0.4);
    m_hub.setFaults("[{'side': 'content', 'slow': 2000000}]");
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    const QJsonArray requests = m_hub.requests();
    const auto expired = std::ranges::count_if(requests, [](const QJsonValue &request) {
        return request["side"_L1] == "content"_L1 && request["status"_L1] == 403;
    });
    QVERIFY(expired > 0);
    QVERIFY(m_hub.sentBytes(u"weights"_s) == kWeightsBytes);
}

void DownloadsTest::sendsTheTokenToTheHubOnly()
{
    m_hub.setFaults("[{'side': 'hub', 'status': 401, 'token': 'hf_secret',"
                    " 'headers': {'X-Error-Code': 'GatedRepo'}}]");
    open();
    m_session->call([](auto &manager) { manager.setToken("hf_secret"); });
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    int withToken = 0;
    const QJsonArray requests = m_hub.requests();
    for (const QJsonValue &request : requests) {
        const QString authorization = request["authorization"_L1].toString();
        QVERIFY(request["cookie"_L1].toString().isEmpty());
        if (request["side"_L1] == "content"_L1) {
            QCOMPARE(authorization, QString());
            QVERIFY(!request["path"_L1].toString().contains("hf_secret"_L1));
        } else if (!authorization.isEmpty()) {
            ++withToken;
        }
    }
    QVERIFY(withToken > 0);
    QVERIFY(!m_hub.nginxLog().contains("hf_secret")); // what the second host itself has seen
    QVERIFY(m_hub.nginxLog().contains("content 206"));
}

void DownloadsTest::pausesAndGoesOnAfterARestart()
{
    m_hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': 800000}]");
    open();
    m_session->accept();
    QTRY_VERIFY_WITH_TIMEOUT(m_session->status().bytes > 4'000'000, 20'000);
    QVERIFY(m_session->status().bytesPerSecond > 0);
    m_session->call([](auto &manager) { manager.pause(kRepository, kRevision); });
    QVERIFY(reach(State::Paused));
    const qint64 bytes = m_session->status().bytes;
    QVERIFY(bytes > 4'000'000);
    QTest::qWait(300);
    QCOMPARE(m_session->status().bytes, bytes);

    open(); // paused stays paused
    QVERIFY(reach(State::Paused));
    QCOMPARE(m_session->status().bytes, bytes);
    m_hub.setFaults("[]");
    m_hub.forgetRequests();
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    QTRY_COMPARE(m_hub.sentBytes(QString()), m_hub.totalBytes() - bytes);

    open(); // ready stays ready
    QVERIFY(reach(State::Ready));
}

void DownloadsTest::cancelsForGood()
{
    m_hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': 800000}]");
    open();
    m_session->accept();
    QTRY_VERIFY_WITH_TIMEOUT(m_session->status().bytes > 3'000'000, 20'000);
    m_session->call([](auto &manager) { manager.remove(kRepository, kRevision); });
    QVERIFY(reach(State::Available));
    QVERIFY(m_session->status().consent); // it can be begun again
    QCOMPARE(
        QDir(QFileInfo(modelFolder()).path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
        QStringList());
    open();
    QTRY_VERIFY(m_session->isLoaded());
    m_hub.forgetRequests();
    QTest::qWait(500);
    QCOMPARE(m_session->status().state, State::Available);
    QCOMPARE(m_hub.requests().size(), 0);
}

void DownloadsTest::refusesWhatDoesNotFit()
{
    app::DownloadManager::Setup greedy = setup();
    greedy.job.disk.reserveBytes = 1LL << 60;
    open(greedy);
    m_session->accept();
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, Kind::DiskFull);
    QVERIFY(m_session->status().problem.detail.contains(u"are free"_s));
    QCOMPARE(m_hub.sentBytes(u"weights"_s), 0);
}

void DownloadsTest::goesThroughAProxy()
{
    qputenv("http_proxy", m_hub.endpoint().toString().toUtf8());
    app::DownloadManager::Setup proxied = setup();
    proxied.hub.endpoint = QUrl(u"http://hub.invalid"_s); // nobody but the proxy can reach it
    open(proxied);
    m_session->accept();
    const bool arrived = reach(State::Ready);
    qunsetenv("http_proxy");
    QVERIFY(arrived && isWhole());
    const QJsonArray requests = m_hub.requests();
    for (const QJsonValue &request : requests)
        QVERIFY(request["proxied"_L1].toBool());
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::DownloadsTest)
#include "tst_downloads.moc"
