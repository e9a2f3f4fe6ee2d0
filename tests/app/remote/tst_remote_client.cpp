// SPDX-License-Identifier: MIT
//
// The client against a server that breaks the protocol as told, and against this program's own
// endpoint on a scripted engine; both over real sockets.
#include "app/api/api_server.h"
#include "app/remote/remote_client.h"
#include "app/remote/remote_metrics.h"
#include "tests/app/remote/scripted_server.h"
#include "tests/support/fake_engine.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <utility>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::RemoteClient;
using engine::FinishReason;

QByteArray chunk(const QByteArray &delta, const QByteArray &finish = "null")
{
    return "{\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":" + finish + "}]}";
}

QByteArray text(const QByteArray &words) { return chunk("{\"content\":\"" + words + "\"}"); }

// What a chat would have of a generation.
struct Heard
{
    explicit Heard(std::unique_ptr<app::Generation> made)
        : generation(std::move(made))
    {
        QObject::connect(generation.get(), &app::Generation::updated, generation.get(),
                         [this](const app::GenerationUpdate &update) {
                             for (const auto &piece : update.pieces)
                                 (piece.isThinking ? thinking : answer) += piece.text;
                             ends += update.finished || update.failed ? 1 : 0;
                             if (update.finished)
                                 finished = update.finished;
                             if (update.failed)
                                 error = QString::fromStdString(update.failed->message);
                         });
    }
    bool wait() const
    {
        return QTest::qWaitFor([this] { return ends > 0; }, 60'000);
    }

    std::unique_ptr<app::Generation> generation;
    std::string thinking;
    std::string answer;
    std::optional<engine::Finished> finished;
    QString error;
    int ends = 0;
};

QJsonObject body()
{
    return app::chatBody(u"m"_s, { engine::Message::text(engine::Role::User, "Hi") }, {});
}

// The same server and client for each fault.
struct Pair
{
    explicit Pair(ScriptedAnswer answer, RemoteClient::Setup setup = {})
        : client(setup)
    {
        server.answer = [answer = std::move(answer)](const ScriptedRequest &) { return answer; };
    }
    std::unique_ptr<Heard> ask(const QByteArray &key = {})
    {
        return std::make_unique<Heard>(client.generate(server.base(), key, body()));
    }

    ScriptedServer server;
    RemoteClient client;
};

} // namespace

class RemoteClientTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void streamsAnAnswer();
    void countsPiecesWithoutUsage();
    void endsWithoutTheLastEvent();
    void keepsWhatCameOfACutAnswer_data();
    void keepsWhatCameOfACutAnswer();
    void saysWhatWentWrong_data();
    void saysWhatWentWrong();
    void saysThatNobodyListens();
    void givesUpAfterSilence();
    void abortsWhenStopped();
    void abortsWhenDestroyed();
    void tellsOfACallInsteadOfAnAnswer();
    void followsNoRedirect();
    void refusesAnUntrustedCertificate();
    void asksForModels();
    void refusesAnEndlessAnswer();
    void talksToItsOwnEndpoint();
    void needsTheKeyOfItsOwnEndpoint();
};

void RemoteClientTest::streamsAnAnswer()
{
    Pair pair(streamAnswer(
        { chunk(R"({"role":"assistant","content":""})"), chunk(R"({"reasoning_content":"So. "})"),
          chunk(R"({"reasoning":"Yes"})"), text("Hel"), text("lo"), chunk("{}", "\"stop\""),
          R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":40}})", "[DONE]" },
        false));
    const auto heard = pair.ask("secret");
    QVERIFY(heard->wait());
    QCOMPARE(heard->error, QString());
    QCOMPARE(heard->thinking, std::string("So. Yes"));
    QCOMPARE(heard->answer, std::string("Hello"));
    QCOMPARE(heard->finished->reason, FinishReason::Stop);
    QCOMPARE(heard->finished->usage.promptTokens, 9);
    QCOMPARE(heard->finished->usage.completionTokens, 40);
    QCOMPARE(heard->finished->usage.reasoningTokens, 2); // pieces: the server did not count them
    QVERIFY(heard->finished->timings.timeToFirstTokenSeconds > 0);
    QVERIFY(heard->finished->timings.decodeSeconds >= 0);
    const ScriptedRequest request = pair.server.requests.value(0);
    QCOMPARE(request.line, QByteArray("POST /v1/chat/completions HTTP/1.1"));
    QVERIFY(request.head.contains("\r\nauthorization: bearer secret\r\n"));
    QVERIFY(request.head.contains("\r\ncontent-type: application/json\r\n"));
    QCOMPARE(QJsonDocument::fromJson(request.body).object(), body());
    QTRY_COMPARE(pair.server.openConnections(), 0); // the last event ended it
}

void RemoteClientTest::countsPiecesWithoutUsage()
{
    Pair pair(
        streamAnswer({ text("a"), text("b"), text("c"), chunk("{}", "\"length\""), "[DONE]" }));
    const auto heard = pair.ask();
    QVERIFY(heard->wait());
    QCOMPARE(heard->finished->usage.completionTokens, 3);
    QCOMPARE(heard->finished->reason, FinishReason::Length);
    QVERIFY(!pair.server.requests.value(0).head.contains("authorization"));
}

void RemoteClientTest::endsWithoutTheLastEvent()
{
    Pair pair(streamAnswer({ text("a"), chunk("{}", "\"stop\"") }));
    const auto heard = pair.ask();
    QVERIFY(heard->wait());
    QCOMPARE(heard->error, QString());
    QCOMPARE(heard->answer, std::string("a"));
}

void RemoteClientTest::keepsWhatCameOfACutAnswer_data()
{
    QTest::addColumn<QList<QByteArray>>("events");
    QTest::addColumn<QString>("words");
    QTest::newRow("closed") << QList<QByteArray> { text("a") }
                            << u"before the answer was complete"_s;
    QTest::newRow("an error") << QList<QByteArray> { text("a"), R"({"error":{"message":"CUDA"}})",
                                                     text("b"), "[DONE]" }
                              << u"CUDA"_s;
    QTest::newRow("no JSON") << QList<QByteArray> { text("a"), "oops", text("b"), "[DONE]" }
                             << u"no JSON"_s;
}

void RemoteClientTest::keepsWhatCameOfACutAnswer()
{
    QFETCH(QList<QByteArray>, events);
    QFETCH(QString, words);
    Pair pair(streamAnswer(events));
    const auto heard = pair.ask();
    QVERIFY(heard->wait());
    QVERIFY2(heard->error.contains(words), qPrintable(heard->error));
    QVERIFY(heard->error.contains(pair.server.base().authority()));
    QCOMPARE(heard->answer, std::string("a"));
    QCOMPARE(heard->ends, 1);
    QVERIFY(!heard->finished);
}

void RemoteClientTest::saysWhatWentWrong_data()
{
    QTest::addColumn<QList<QByteArray>>("pieces");
    QTest::addColumn<QString>("words");
    const auto row = [](const char *name, const ScriptedAnswer &answer, const QString &words) {
        QTest::newRow(name) << answer.pieces << words;
    };
    row("401", statusAnswer("401 Unauthorized", R"({"error":"Unauthorized"})"), u"key"_s);
    row("404", statusAnswer("404 Not Found", R"({"error":{"message":"no model x"}})"),
        u"no model x"_s);
    row("429", statusAnswer("429 Too Many", "{}"), u"429"_s);
    row("500", statusAnswer("500 Oh", ""), u"500"_s);
    row("503", statusAnswer("503 Busy", R"({"message":"loading"})"), u"loading"_s);
    row("JSON, not a stream", statusAnswer("200 OK", R"({"choices":[]})"), u"application/json"_s);
    row("no HTTP", { { "SSH-2.0-OpenSSH\r\n" } }, u"127.0.0.1"_s);
    row("nothing", { { "" } }, u"127.0.0.1"_s);
}

void RemoteClientTest::saysWhatWentWrong()
{
    QFETCH(QList<QByteArray>, pieces);
    QFETCH(QString, words);
    Pair pair(ScriptedAnswer { pieces });
    const auto heard = pair.ask("secret");
    QVERIFY(heard->wait());
    QVERIFY2(heard->error.contains(words), qPrintable(heard->error));
    QVERIFY(heard->error.contains(pair.server.base().authority()));
    QVERIFY(!heard->error.contains(u"secret"_s));
    QVERIFY(heard->answer.empty());
    QCOMPARE(heard->ends, 1);
}

void RemoteClientTest::saysThatNobodyListens()
{
    QUrl base;
    {
        const ScriptedServer gone;
        base = gone.base();
    }
    RemoteClient client({});
    Heard heard(client.generate(base, {}, body()));
    QVERIFY(heard.wait());
    QVERIFY2(heard.error.contains(u"refused the connection"_s), qPrintable(heard.error));
}

void RemoteClientTest::givesUpAfterSilence()
{
    Pair pair(streamAnswer({ text("a") }, false), { .answerSilence = std::chrono::seconds(3) });
    const auto heard = pair.ask();
    QVERIFY(heard->wait());
    QVERIFY2(heard->error.contains(u"sent nothing for 3 s"_s), qPrintable(heard->error));
    QCOMPARE(heard->answer, std::string("a"));
}

void RemoteClientTest::abortsWhenStopped()
{
    Pair pair(streamAnswer({ text("a") }, false));
    const auto heard = pair.ask();
    QTRY_COMPARE(heard->answer, std::string("a"));
    heard->generation->cancel();
    QCOMPARE(heard->ends, 0); // not from inside of the call
    QVERIFY(heard->wait());
    QCOMPARE(heard->finished->reason, FinishReason::Cancelled);
    QTRY_COMPARE(pair.server.openConnections(), 0);
    heard->generation->cancel(); // once more is nothing
    QCOMPARE(heard->ends, 1);
}

void RemoteClientTest::abortsWhenDestroyed()
{
    Pair pair(streamAnswer({ text("a") }, false));
    auto heard = pair.ask();
    QTRY_COMPARE(heard->answer, std::string("a"));
    heard.reset();
    QTRY_COMPARE(pair.server.openConnections(), 0);
}

void RemoteClientTest::tellsOfACallInsteadOfAnAnswer()
{
    Pair pair(
        streamAnswer({ chunk(R"({"tool_calls":[{"index":0,"function":{"name":"get_weather"}}]})"),
                       chunk("{}", "\"tool_calls\""), "[DONE]" }));
    const auto heard = pair.ask();
    QVERIFY(heard->wait());
    QVERIFY2(heard->error.contains(u"get_weather"_s), qPrintable(heard->error));
}

void RemoteClientTest::followsNoRedirect()
{
    ScriptedServer other;
    other.answer = [](const ScriptedRequest &) { return streamAnswer({ text("a"), "[DONE]" }); };
    Pair pair(statusAnswer("307 Temporary Redirect", "",
                           "Location: " + other.base().toEncoded() + "/v1/chat/completions\r\n"));
    const auto heard = pair.ask("secret");
    QVERIFY(heard->wait());
    QVERIFY2(heard->error.contains(u"not followed"_s), qPrintable(heard->error));
    QCOMPARE(other.requests.size(), 0);
}

// To a server that speaks no TLS at all: whatever the handshake fails at, nothing is sent in plain.
void RemoteClientTest::refusesAnUntrustedCertificate()
{
    Pair pair(streamAnswer({ text("a"), "[DONE]" }));
    QUrl base = pair.server.base();
    base.setScheme(u"https"_s);
    RemoteClient client({ .answerSilence = std::chrono::seconds(2) });
    Heard heard(client.generate(base, "secret", body()));
    QVERIFY(heard.wait());
    QVERIFY(!heard.error.isEmpty());
    QVERIFY(heard.answer.empty());
    QCOMPARE(pair.server.requests.size(), 0);
}

void RemoteClientTest::asksForModels()
{
    Pair pair(statusAnswer("200 OK", R"({"data":[{"id":"glm"}]})"));
    const auto get = pair.client.get(app::modelsUrl(pair.server.base()), "secret");
    std::optional<engine::Result<QByteArray>> answer;
    connect(get.get(), &app::RemoteGet::finished, this, [&] { answer = get->answer(); });
    QTRY_VERIFY(answer.has_value());
    QCOMPARE(*app::modelIds(answer->value()), QStringList { u"glm"_s });
    QCOMPARE(pair.server.requests.value(0).line, QByteArray("GET /v1/models HTTP/1.1"));
    QVERIFY(pair.server.requests.value(0).head.contains("\r\nauthorization: bearer secret\r\n"));
}

void RemoteClientTest::refusesAnEndlessAnswer()
{
    ScriptedAnswer endless { { "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" }, false };
    for (qint64 sent = 0; sent <= app::RemoteGet::kLargestAnswer; sent += 1 << 20)
        endless.pieces << QByteArray(1 << 20, 'a');
    Pair pair(endless);
    const auto get = pair.client.get(app::metricsUrl(pair.server.base()), {});
    QList<QString> problems;
    connect(get.get(), &app::RemoteGet::finished, this, [&] {
        problems << (get->answer() ? QString()
                                   : QString::fromStdString(get->answer().error().message));
    });
    QTRY_COMPARE(problems.size(), 1);
    QVERIFY2(problems[0].contains(u"larger than 4 MiB"_s), qPrintable(problems[0]));
    QTRY_COMPARE(pair.server.openConnections(), 0);
}

namespace {

// This program's endpoint, as another machine would run it.
struct OwnEndpoint
{
    explicit OwnEndpoint(bool requiresKey)
        : keys(folder.filePath(u"keys.json"_s).toStdString())
        , key(QByteArray::fromStdString(keys.create("test").value()))
    {
        FakeScript script;
        script.answer = [](const auto &) {
            FakeAnswer answer;
            answer.thinking = "Let me see.";
            answer.text = "Four \xE2\x82\xAC.";
            return answer;
        };
        fake.setScript(script);
        fake.load({}, [](const engine::LoadEvent &) { });
        app::ApiServerOptions options;
        options.port = 0;
        options.requiresKey = requiresKey;
        server = std::make_unique<app::ApiServer>(
            fake, keys, options, [](const app::RequestRecord &) { }, [](auto, auto, auto) { });
        base = QUrl(u"http://127.0.0.1:%1"_s.arg(server->start().value()));
    }
    bool wait() const
    {
        return QTest::qWaitFor([this] { return fake.model().has_value(); }, 60'000);
    }

    QTemporaryDir folder;
    app::ApiKeys keys;
    QByteArray key;
    FakeEngine fake;
    std::unique_ptr<app::ApiServer> server;
    QUrl base;
};

} // namespace

void RemoteClientTest::talksToItsOwnEndpoint()
{
    OwnEndpoint endpoint(true);
    QVERIFY(endpoint.wait());
    RemoteClient client({});
    app::RequestSettings settings;
    settings.set(app::RequestParameter::Thinking, u"max"_s);
    settings.set(app::RequestParameter::ClearThinking, false);
    settings.set(app::RequestParameter::Temperature, 0.5);
    settings.set(app::RequestParameter::TopK, 20);
    std::vector<engine::Message> messages {
        engine::Message::text(engine::Role::System, "Be brief."),
        engine::Message::text(engine::Role::User, "2+2?"),
        engine::Message::text(engine::Role::Assistant, "4"),
        engine::Message::text(engine::Role::User, "In euros?")
    };
    messages[2].reasoning = "Sum.";
    Heard heard(client.generate(endpoint.base, endpoint.key,
                                app::chatBody(u"Glimmer"_s, messages, settings)));
    QVERIFY(heard.wait());
    QCOMPARE(heard.error, QString());
    QCOMPARE(heard.thinking, std::string("Let me see."));
    QCOMPARE(heard.answer, std::string("Four \xE2\x82\xAC."));
    QCOMPARE(heard.finished->reason, FinishReason::Stop);
    QVERIFY(heard.finished->usage.promptTokens > 0);
    QVERIFY(heard.finished->usage.completionTokens > 0);
    const std::vector<engine::Message> got = endpoint.fake.lastMessages();
    QCOMPARE(got.size(), messages.size());
    QCOMPARE(got[2].reasoning.value_or(""), std::string("Sum."));
    QCOMPARE(got[3].content.at(0).text, std::string("In euros?"));
    QCOMPARE(endpoint.fake.lastOptions().effort, engine::ReasoningEffort::Max);
    QVERIFY(endpoint.fake.lastOptions().thinking);
    QCOMPARE(endpoint.fake.lastRequest().sampling.temperature, 0.5F);
    QCOMPARE(endpoint.fake.lastRequest().sampling.topK, 20);

    const auto get = client.get(app::metricsUrl(endpoint.base), endpoint.key);
    std::optional<engine::Result<QByteArray>> metrics;
    connect(get.get(), &app::RemoteGet::finished, this, [&] { metrics = get->answer(); });
    QTRY_VERIFY(metrics.has_value());
    const app::RemoteReading reading = app::readingOf(app::PrometheusText(metrics->value()));
    QCOMPARE(reading.server, u"Firesteel"_s);
    QVERIFY(reading.running.has_value());
    QVERIFY(reading.cacheUse.has_value());
    QVERIFY(reading.generatedTotal.has_value());
    QVERIFY(reading.acceptedTotal.has_value());
}

void RemoteClientTest::needsTheKeyOfItsOwnEndpoint()
{
    OwnEndpoint endpoint(true);
    QVERIFY(endpoint.wait());
    RemoteClient client({});
    Heard heard(client.generate(endpoint.base, "wrong", body()));
    QVERIFY(heard.wait());
    QVERIFY2(heard.error.contains(u"refused the key (401)"_s), qPrintable(heard.error));
    QCOMPARE(endpoint.fake.emittedTokens(), 0);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::RemoteClientTest)
#include "tst_remote_client.moc"
