// SPDX-License-Identifier: MIT
//
// `firesteel --headless` as a service starts it, on the real model that comes with the program.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QProcess>
#include <QRegularExpression>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <memory>
#include <utility>

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatience = 300'000; // milliseconds, on a busy machine

} // namespace

class TestHeadlessEndpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void servesTheModelUntilSigterm();
    void anEndWhileItAnswersIsProperToo();
    void withoutAModelItFails();
    void aTakenPortFails();
    void aKeyThatIsMissingFails();
    void keysAreMadeAndRemoved();
    void aPortThatIsNoneFails();

private:
    void start(QProcess &process, const QStringList &arguments, bool isEndpoint = true);
    // Exit code and what it wrote.
    std::pair<int, QByteArray> run(const QStringList &arguments);
    int waitForPort(QProcess &process); // that it listens on
    std::pair<int, QJsonObject> ask(QNetworkReply *reply);
    QNetworkReply *post(int port, const QString &path, const QByteArray &body);

    QTemporaryDir m_folder;
    QNetworkAccessManager m_network;
};

void TestHeadlessEndpoint::start(QProcess &process, const QStringList &arguments, bool isEndpoint)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove(u"DISPLAY"_s);
    environment.remove(u"WAYLAND_DISPLAY"_s);
    environment.remove(u"QT_QPA_PLATFORM"_s);
    environment.remove(u"FIRESTEEL_MODEL"_s);
    environment.insert(u"XDG_DATA_HOME"_s, m_folder.filePath(u"data"_s));
    environment.insert(u"XDG_CONFIG_HOME"_s, m_folder.filePath(u"config"_s));
    environment.insert(u"HOME"_s, m_folder.path());
    process.setProcessEnvironment(environment);
    const QStringList headless = isEndpoint ? QStringList { u"--headless"_s } : QStringList();
    process.start(QStringLiteral(FIRESTEEL_PROGRAM), headless + arguments);
    QVERIFY2(process.waitForStarted(), qPrintable(process.errorString()));
}

std::pair<int, QByteArray> TestHeadlessEndpoint::run(const QStringList &arguments)
{
    QProcess process;
    start(process, arguments, false);
    if (!process.waitForFinished(kPatience))
        return { -1, {} };
    return { process.exitCode(), process.readAllStandardOutput() };
}

int TestHeadlessEndpoint::waitForPort(QProcess &process)
{
    QByteArray output;
    static const QRegularExpression line(u"Listening on http://127\\.0\\.0\\.1:(\\d+)/v1\n"_s);
    QRegularExpressionMatch match;
    const bool isThere = QTest::qWaitFor(
        [&] {
            output += process.readAllStandardOutput();
            match = line.match(QString::fromUtf8(output));
            return match.hasMatch() || process.state() == QProcess::NotRunning;
        },
        kPatience);
    return isThere ? match.captured(1).toInt() : 0;
}

std::pair<int, QJsonObject> TestHeadlessEndpoint::ask(QNetworkReply *reply)
{
    const std::unique_ptr<QNetworkReply> owned(reply);
    if (!QTest::qWaitFor([&] { return owned->isFinished(); }, kPatience))
        return {};
    return { owned->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(),
             QJsonDocument::fromJson(owned->readAll()).object() };
}

QNetworkReply *TestHeadlessEndpoint::post(int port, const QString &path, const QByteArray &body)
{
    QNetworkRequest request(QUrl(u"http://127.0.0.1:%1%2"_s.arg(port).arg(path)));
    request.setHeader(QNetworkRequest::ContentTypeHeader, u"application/json"_s);
    return m_network.post(request, body);
}

void TestHeadlessEndpoint::servesTheModelUntilSigterm()
{
    QProcess process;
    start(process, { u"--port"_s, u"0"_s, u"--model"_s, QStringLiteral(FIRESTEEL_GLIMMER) });
    const int port = waitForPort(process);
    QVERIFY2(port > 0, process.readAllStandardError().constData());
    const QUrl health(u"http://127.0.0.1:%1/health"_s.arg(port));
    QTRY_COMPARE_WITH_TIMEOUT(ask(m_network.get(QNetworkRequest(health))).first, 200, kPatience);

    const QByteArray question = R"("messages":[{"role":"user","content":"What is 2+2?"}],
        "temperature":0,"max_tokens":24)";
    const auto [status, whole] = ask(post(port, u"/v1/chat/completions"_s, '{' + question + '}'));
    QCOMPARE(status, 200);
    const QJsonObject choice = whole["choices"_L1][0].toObject();
    const QString text = choice["message"_L1]["content"_L1].toString();
    const QString thinking = choice["message"_L1]["reasoning_content"_L1].toString();
    QVERIFY(!text.isEmpty() || !thinking.isEmpty());
    QVERIFY(whole["usage"_L1]["prompt_tokens"_L1].toInt() > 5);
    // The stream of the same question says the same.
    const std::unique_ptr<QNetworkReply> stream(
        post(port, u"/v1/chat/completions"_s, '{' + question + R"(,"stream":true})"));
    QVERIFY(QTest::qWaitFor([&] { return stream->isFinished(); }, kPatience));
    QString streamed;
    for (const QByteArray &line : stream->readAll().split('\n')) {
        if (!line.startsWith("data: {"))
            continue;
        const QJsonObject delta
            = QJsonDocument::fromJson(line.sliced(6))["choices"_L1][0]["delta"_L1].toObject();
        streamed += delta["reasoning_content"_L1].toString() + delta["content"_L1].toString();
    }
    QCOMPARE(streamed, thinking + text);
    // Tokens there and back.
    const auto [tokenStatus, tokens]
        = ask(post(port, u"/tokenize"_s, R"({"prompt":"Grüße, 世界!"})"));
    QCOMPARE(tokenStatus, 200);
    const QByteArray ids
        = QJsonDocument(QJsonObject { { u"tokens"_s, tokens["tokens"_L1] } }).toJson();
    QCOMPARE(ask(post(port, u"/detokenize"_s, ids)).second["prompt"_L1].toString(),
             u"Grüße, 世界!"_s);
    process.terminate();
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 0);
}

void TestHeadlessEndpoint::anEndWhileItAnswersIsProperToo()
{
    QProcess process;
    start(process, { u"--port"_s, u"0"_s, u"--model"_s, QStringLiteral(FIRESTEEL_GLIMMER) });
    const int port = waitForPort(process);
    QVERIFY(port > 0);
    const QUrl health(u"http://127.0.0.1:%1/health"_s.arg(port));
    QTRY_COMPARE_WITH_TIMEOUT(ask(m_network.get(QNetworkRequest(health))).first, 200, kPatience);
    // Reading so much takes a while; that it began is told at once.
    const QByteArray question = R"({"messages":[{"role":"user","content":")"
        + QByteArray("word ").repeated(1500) + R"("}],"stream":true})";
    const std::unique_ptr<QNetworkReply> stream(post(port, u"/v1/chat/completions"_s, question));
    QVERIFY(QTest::qWaitFor([&] { return stream->bytesAvailable() > 0; }, kPatience));
    process.terminate();
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 0);
}

void TestHeadlessEndpoint::withoutAModelItFails()
{
    QProcess process;
    start(process, { u"--port"_s, u"0"_s, u"--model"_s, m_folder.filePath(u"nothing"_s) });
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 1);
    QVERIFY(process.readAllStandardError().contains("nothing"));
}

void TestHeadlessEndpoint::aTakenPortFails()
{
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress::LocalHost));
    const QString port = QString::number(other.serverPort());
    QProcess process;
    start(process, { u"--port"_s, port });
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 1);
    QVERIFY(process.readAllStandardError().contains(port.toUtf8()));
}

void TestHeadlessEndpoint::aKeyThatIsMissingFails()
{
    QVERIFY(QDir().mkpath(m_folder.filePath(u"config/firesteel"_s)));
    QFile settings(m_folder.filePath(u"config/firesteel/firesteel.ini"_s));
    QVERIFY(settings.open(QIODevice::WriteOnly));
    settings.write("[endpoint]\naddress=0.0.0.0\n");
    settings.close();
    QProcess process;
    start(process, { u"--port"_s, u"0"_s });
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 1);
    QVERIFY(process.readAllStandardError().contains("a key is needed"));
    QVERIFY(settings.remove());
}

void TestHeadlessEndpoint::keysAreMadeAndRemoved()
{
    const auto [made, output] = run({ u"--new-key"_s, u"laptop"_s });
    QCOMPARE(made, 0);
    const QByteArray key = output.trimmed();
    QVERIFY(key.startsWith("fsk-"));
    QFile file(m_folder.filePath(u"config/firesteel/api-keys.json"_s));
    QCOMPARE(file.permissions() & ~(QFile::ReadUser | QFile::WriteUser),
             QFile::ReadOwner | QFile::WriteOwner);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray stored = file.readAll();
    QVERIFY(stored.contains("laptop") && !stored.contains(key.sliced(4)));

    QFile settings(m_folder.filePath(u"config/firesteel/firesteel.ini"_s));
    QVERIFY(settings.open(QIODevice::WriteOnly));
    settings.write("[endpoint]\nrequiresKey=true\n");
    settings.close();
    QProcess process;
    start(process, { u"--port"_s, u"0"_s, u"--model"_s, QStringLiteral(FIRESTEEL_GLIMMER) });
    const int port = waitForPort(process);
    QVERIFY2(port > 0, process.readAllStandardError().constData());
    QNetworkRequest request(QUrl(u"http://127.0.0.1:%1/v1/models"_s.arg(port)));
    QCOMPARE(ask(m_network.get(request)).first, 401);
    request.setRawHeader("x-api-key", key);
    QCOMPARE(ask(m_network.get(request)).first, 200);
    process.terminate();
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 0);
    QCOMPARE(run({ u"--remove-key"_s, u"laptop"_s }).first, 0);
    QCOMPARE(run({ u"--remove-key"_s, u"laptop"_s }).first, 1); // there is none any more
    QVERIFY(settings.remove());
}

void TestHeadlessEndpoint::aPortThatIsNoneFails()
{
    QProcess process;
    start(process, { u"--port"_s, u"70000"_s });
    QVERIFY(process.waitForFinished(kPatience));
    QCOMPARE(process.exitCode(), 1);
    QVERIFY(process.readAllStandardError().contains("70000"));
}

QTEST_GUILESS_MAIN(TestHeadlessEndpoint)

#include "tst_headless_endpoint.moc"
