// SPDX-License-Identifier: MIT
//
// The endpoint as the window switches it: settings, keys, errors, the log.
#include "app/endpoint/endpoint_controller.h"
#include "app/endpoint/endpoint_options.h"
#include "tests/support/fake_engine.h"

#include <QAbstractItemModelTester>
#include <QDir>
#include <QFile>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace firesteel;
using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatience = 60'000; // milliseconds, on a busy machine

int freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}

} // namespace

class TestEndpointController : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void isOffUntilItIsSwitchedOn();
    void aTakenPortIsToldAndAnotherIsTried();
    void otherComputersNeedAKey();
    void keysAreShownOnceAndRequired();
    void originsAreBroughtIntoOneForm();
    void fieldsRefuseWhatMakesNoSense();
    void theLogTellsOfRequestsWithoutTheirText();
    void theLogIsBounded();
    void requestsOfAnotherServerAreOthers();
    void switchingOffEndsWhatRuns();
    void settingsSurviveARestart();

private:
    void make();
    int statusOf(const QString &path, const QByteArray &key = {});

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeEngine> m_engine;
    std::unique_ptr<AppSettings> m_settings;
    std::unique_ptr<EndpointController> m_endpoint;
    QNetworkAccessManager m_network;
};

void TestEndpointController::init()
{
    QDir(m_folder.path()).removeRecursively();
    QVERIFY(QDir().mkpath(m_folder.path()));
    make();
    QVERIFY(m_endpoint->setPortText(QString::number(freePort())));
}

void TestEndpointController::cleanup()
{
    m_endpoint.reset();
    m_settings.reset();
    m_engine.reset();
}

void TestEndpointController::make()
{
    cleanup();
    m_engine = std::make_unique<test::FakeEngine>();
    m_settings = std::make_unique<AppSettings>(m_folder.filePath(u"firesteel.ini"_s));
    m_endpoint = std::make_unique<EndpointController>(*m_engine, *m_settings);
    m_endpoint->start();
}

int TestEndpointController::statusOf(const QString &path, const QByteArray &key)
{
    QNetworkRequest request(QUrl(u"http://127.0.0.1:%1%2"_s.arg(m_endpoint->port()).arg(path)));
    if (!key.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + key);
    const std::unique_ptr<QNetworkReply> reply(m_network.get(request));
    if (!QTest::qWaitFor([&] { return reply->isFinished(); }, kPatience))
        return -1;
    return reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
}

void TestEndpointController::isOffUntilItIsSwitchedOn()
{
    QVERIFY(!m_endpoint->isEnabled());
    QCOMPARE(statusOf(u"/v1/models"_s), 0); // nobody listens
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QCOMPARE(m_endpoint->url(), u"http://127.0.0.1:%1/v1"_s.arg(m_endpoint->port()));
    QCOMPARE(statusOf(u"/v1/models"_s), 200);
    m_endpoint->setEnabled(false);
    QTRY_COMPARE_WITH_TIMEOUT(statusOf(u"/v1/models"_s), 0, kPatience);
    QVERIFY(!m_endpoint->isRunning());
    QVERIFY(m_endpoint->errorText().isEmpty());
}

void TestEndpointController::aTakenPortIsToldAndAnotherIsTried()
{
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress::LocalHost));
    QVERIFY(m_endpoint->setPortText(QString::number(other.serverPort())));
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(!m_endpoint->errorText().isEmpty(), kPatience);
    QVERIFY(m_endpoint->errorText().contains(QString::number(other.serverPort())));
    QVERIFY(!m_endpoint->isRunning());
    QVERIFY(m_endpoint->setPortText(QString::number(freePort())));
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QVERIFY(m_endpoint->errorText().isEmpty());
}

void TestEndpointController::otherComputersNeedAKey()
{
    QVERIFY(!m_endpoint->isExposed());
    QVERIFY(m_endpoint->setAddressText(u" 0.0.0.0 "_s));
    QVERIFY(m_endpoint->isExposed());
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->errorText().contains(u"a key is needed"_s), kPatience);
    m_endpoint->createKey(u"phone"_s); // it starts by itself
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QCOMPARE(statusOf(u"/v1/models"_s), 401);
    QCOMPARE(statusOf(u"/v1/models"_s, m_endpoint->newKey().toUtf8()), 200);
    // Names of this machine are allowed where others come by them.
    QVERIFY(serverOptions(m_settings->endpoint()).access.hosts.size() >= 2);
}

void TestEndpointController::keysAreShownOnceAndRequired()
{
    QSignalSpy changes(m_endpoint.get(), &EndpointController::keysChanged);
    m_endpoint->createKey(u"  my   laptop "_s);
    const QByteArray key = m_endpoint->newKey().toUtf8();
    QVERIFY(key.startsWith("fsk-"));
    QCOMPARE(m_endpoint->keys().size(), 1);
    QCOMPARE(m_endpoint->keys()[0].name, u"my laptop"_s);
    QVERIFY(m_endpoint->keys()[0].detail.contains(QString::fromUtf8(key.last(4))));
    m_endpoint->dismissNewKey();
    QVERIFY(m_endpoint->newKey().isEmpty());
    QCOMPARE(changes.size(), 2);
    QFile file(m_folder.filePath(u"api-keys.json"_s));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(!file.readAll().contains(key.sliced(4)));
    m_endpoint->setRequiresKey(true);
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QCOMPARE(statusOf(u"/v1/models"_s), 401);
    QCOMPARE(statusOf(u"/v1/models"_s, key), 200);
    m_endpoint->removeKey(m_endpoint->keys()[0].id);
    QVERIFY(m_endpoint->keys().isEmpty());
    QCOMPARE(statusOf(u"/v1/models"_s, key), 401);
}

void TestEndpointController::originsAreBroughtIntoOneForm()
{
    QVERIFY(m_endpoint->addOrigin(u"HTTPS://App.Example/"_s));
    QVERIFY(m_endpoint->addOrigin(u"https://app.example"_s)); // the same
    QCOMPARE(m_endpoint->origins(), QStringList { u"https://app.example"_s });
    for (const auto *wrong : { "null", "*", "app.example", "https://a/b", "" })
        QVERIFY2(!m_endpoint->addOrigin(QString::fromLatin1(wrong)), wrong);
    m_endpoint->removeOrigin(u"https://app.example"_s);
    QVERIFY(m_endpoint->origins().isEmpty());
}

void TestEndpointController::fieldsRefuseWhatMakesNoSense()
{
    const int port = m_endpoint->port();
    for (const auto *wrong : { "", "0", "65536", "-1", "http", "80.5" })
        QVERIFY2(!m_endpoint->setPortText(QString::fromLatin1(wrong)), wrong);
    QCOMPARE(m_endpoint->port(), port);
    for (const auto *wrong : { "", "my-machine", "300.1.1.1", "http://127.0.0.1" })
        QVERIFY2(!m_endpoint->setAddressText(QString::fromLatin1(wrong)), wrong);
    QCOMPARE(m_endpoint->address(), u"127.0.0.1"_s);
    QVERIFY(m_endpoint->setAddressText(u"::1"_s));
    QVERIFY(!m_endpoint->isExposed());
    QVERIFY(m_endpoint->url().startsWith(u"http://[::1]:"_s));
}

void TestEndpointController::theLogTellsOfRequestsWithoutTheirText()
{
    const QAbstractItemModelTester tester(m_endpoint->log(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QCOMPARE(statusOf(u"/v1/models?secret=1"_s), 200);
    QCOMPARE(statusOf(u"/nowhere"_s), 404);
    RequestLogModel &log = *m_endpoint->log();
    QTRY_COMPARE_WITH_TIMEOUT(log.count(), 2, kPatience);
    const auto text = [&log](int row, RequestLogModel::Role role) {
        return log.data(log.index(row), role).toString();
    };
    QTRY_COMPARE_WITH_TIMEOUT(text(0, RequestLogModel::ResultRole), u"404"_s, kPatience);
    QCOMPARE(text(0, RequestLogModel::RequestRole), u"GET /nowhere"_s); // newest first
    QCOMPARE(text(0, RequestLogModel::DetailRole), u"not_found"_s);
    QVERIFY(log.data(log.index(0), RequestLogModel::FailedRole).toBool());
    QCOMPARE(text(1, RequestLogModel::RequestRole), u"GET /v1/models"_s);
    QCOMPARE(text(1, RequestLogModel::ResultRole), u"200"_s);
    QCOMPARE(text(1, RequestLogModel::ClientRole), u"127.0.0.1"_s);
    QVERIFY(!log.data(log.index(1), RequestLogModel::FailedRole).toBool());
    log.clear();
    QCOMPARE(log.rowCount(), 0);
}

void TestEndpointController::theLogIsBounded()
{
    RequestLogModel log;
    const QAbstractItemModelTester tester(&log,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    const RequestSink sink = log.sink();
    for (std::uint64_t id = 1; id <= RequestLogModel::kMostRows + 10; ++id) {
        RequestRecord record;
        record.id = id;
        sink(record);
        record.status = 200;
        sink(record);
    }
    QTRY_COMPARE(log.rowCount(), static_cast<int>(RequestLogModel::kMostRows));
    QCOMPARE(log.data(log.index(0), RequestLogModel::ResultRole).toString(), u"200"_s);
}

// Switched off and on again, records count from 1 again.
void TestEndpointController::requestsOfAnotherServerAreOthers()
{
    RequestLogModel log;
    const QAbstractItemModelTester tester(&log,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    RequestRecord record;
    record.id = 1;
    record.path = "/old";
    const RequestSink before = log.sink();
    before(record);
    QTRY_COMPARE(log.running(), 1);
    const RequestSink after = log.sink();
    record.path = "/new";
    after(record);
    QTRY_COMPARE(log.running(), 2);
    record.status = 200;
    after(record);
    QTRY_COMPARE(log.running(), 1);
    QCOMPARE(log.rowCount(), 2);
    const auto text = [&log](int row, RequestLogModel::Role role) {
        return log.data(log.index(row), role).toString();
    };
    QVERIFY(text(0, RequestLogModel::RequestRole).endsWith(u"/new"_s));
    QCOMPARE(text(0, RequestLogModel::ResultRole), u"200"_s);
    QVERIFY(text(1, RequestLogModel::RequestRole).endsWith(u"/old"_s));
    QCOMPARE(text(1, RequestLogModel::ResultRole), u"running"_s);
    log.clear();
    QCOMPARE(log.running(), 1); // it still does
}

void TestEndpointController::switchingOffEndsWhatRuns()
{
    m_engine->load({ .modelDirectory = "/" }, [](const engine::LoadEvent &) { });
    QTRY_COMPARE_WITH_TIMEOUT(m_engine->stats().state, engine::EngineStats::State::Ready,
                              kPatience);
    m_engine->holdTokens();
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    QNetworkRequest request(QUrl(m_endpoint->url() + u"/chat/completions"_s));
    request.setHeader(QNetworkRequest::ContentTypeHeader, u"application/json"_s);
    const std::unique_ptr<QNetworkReply> reply(m_network.post(
        request, R"({"model": "any", "messages": [{"role": "user", "content": "Hello"}]})"));
    RequestLogModel &log = *m_endpoint->log();
    QSignalSpy changes(&log, &RequestLogModel::runningChanged);
    QTRY_COMPARE_WITH_TIMEOUT(log.running(), 1, kPatience);
    m_endpoint->setEnabled(false);
    QTRY_COMPARE_WITH_TIMEOUT(log.running(), 0, kPatience);
    QCOMPARE(changes.size(), 2);
    QVERIFY(log.data(log.index(0), RequestLogModel::ResultRole).toString() != u"running"_s);
    m_engine->releaseTokens();
}

void TestEndpointController::settingsSurviveARestart()
{
    QVERIFY(m_endpoint->addOrigin(u"http://localhost:3000"_s));
    m_endpoint->createKey(u"k"_s);
    m_endpoint->setEnabled(true);
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    const int port = m_endpoint->port();
    make();
    QCOMPARE(m_endpoint->port(), port);
    QCOMPARE(m_endpoint->origins(), QStringList { u"http://localhost:3000"_s });
    QCOMPARE(m_endpoint->keys().size(), 1);
    QVERIFY(m_endpoint->newKey().isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(m_endpoint->isRunning(), kPatience);
    m_settings->restoreDefaults();
    QVERIFY(!m_endpoint->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!m_endpoint->isRunning(), kPatience);
}

QTEST_GUILESS_MAIN(TestEndpointController)

#include "tst_endpoint_controller.moc"
