// SPDX-License-Identifier: MIT
#include "app/remote/chat_stream.h"
#include "app/remote/remote_protocol.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::ChatStream;
using app::RequestParameter;
using app::RequestSettings;
using engine::FinishReason;

QByteArray chunk(const QByteArray &delta, const QByteArray &finish = "null")
{
    return "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":" + delta
        + ",\"finish_reason\":" + finish + "}]}";
}

QString problemOf(const QByteArray &event)
{
    const auto read = ChatStream().read(event);
    return read ? QString() : QString::fromStdString(read.error().message);
}

} // namespace

class RemoteProtocolTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsAddresses_data();
    void readsAddresses();
    void tellsOfPlainText();
    void readsPieces();
    void readsTheEnd();
    void joinsToolCalls();
    void refusesACallOutOfPlace();
    void tellsOfErrors_data();
    void tellsOfErrors();
    void writesTheConversation();
    void writesOnlyWhatWasChosen();
    void writesThinking_data();
    void writesThinking();
    void readsModels();
    void explainsAStatus_data();
    void explainsAStatus();
};

void RemoteProtocolTest::readsAddresses_data()
{
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("chat"); // empty: refused
    QTest::addColumn<QString>("metrics");
    QTest::newRow("name and port")
        << u" spark:8000 "_s << u"http://spark:8000/v1/chat/completions"_s
        << u"http://spark:8000/metrics"_s;
    QTest::newRow("as the OpenAI libraries want it")
        << u"https://spark.example/v1/"_s << u"https://spark.example/v1/chat/completions"_s
        << u"https://spark.example/metrics"_s;
    QTest::newRow("behind a path")
        << u"https://a.example/llm/v1"_s << u"https://a.example/llm/v1/chat/completions"_s
        << u"https://a.example/metrics"_s;
    QTest::newRow("IPv6") << u"http://[::1]:8000"_s << u"http://[::1]:8000/v1/chat/completions"_s
                          << u"http://[::1]:8000/metrics"_s;
    for (const auto *wrong : { "", "ftp://a", "file:///etc", "http://", "http://u:p@a",
                               "http://a?x", "http://a#x", "http://a b", "http://a:99999" })
        QTest::newRow(*wrong == '\0' ? "empty" : wrong)
            << QString::fromLatin1(wrong) << QString() << QString();
}

void RemoteProtocolTest::readsAddresses()
{
    QFETCH(QString, typed);
    QFETCH(QString, chat);
    QFETCH(QString, metrics);
    const auto base = app::remoteBase(typed);
    QCOMPARE(base.has_value(), !chat.isEmpty());
    if (base) {
        QCOMPARE(app::chatUrl(*base).toString(), chat);
        QCOMPARE(app::metricsUrl(*base).toString(), metrics);
    }
}

void RemoteProtocolTest::tellsOfPlainText()
{
    QVERIFY(app::unencryptedNotice(QUrl(u"http://spark:8000"_s)).contains(u"spark"_s));
    for (const auto &safe : { u"https://spark:8000"_s, u"http://localhost:8000"_s,
                              u"http://127.0.0.2:8000"_s, u"http://[::1]:8000"_s })
        QCOMPARE(app::unencryptedNotice(QUrl(safe)), QString());
    // A name that only begins like the loopback's is somebody else's.
    QVERIFY(!app::unencryptedNotice(QUrl(u"http://localhost.example"_s)).isEmpty());
}

void RemoteProtocolTest::readsPieces()
{
    ChatStream stream;
    const auto first = stream.read(chunk(R"({"role":"assistant","content":""})"));
    QVERIFY(first && first->text.empty() && first->thinking.empty());
    QCOMPARE(stream.read(chunk(R"({"reasoning_content":"Hm"})"))->thinking, std::string("Hm"));
    QCOMPARE(stream.read(chunk(R"({"reasoning":"Hm"})"))->thinking, std::string("Hm"));
    // Both names at once mean the same piece.
    QCOMPARE(stream.read(chunk(R"({"reasoning":"Hm","reasoning_content":"Hm"})"))->thinking,
             std::string("Hm"));
    const auto text = stream.read(chunk(R"({"content":"\u20ac\ud83d\ude00","reasoning":null})"));
    QCOMPARE(text->text, std::string("\xE2\x82\xAC\xF0\x9F\x98\x80"));
    QVERIFY(text->thinking.empty());
    QVERIFY(!stream.isComplete());
}

void RemoteProtocolTest::readsTheEnd()
{
    ChatStream stream;
    QVERIFY(stream.read(chunk("{}", "\"length\"")));
    QCOMPARE(stream.finishReason(), FinishReason::Length);
    QVERIFY(stream.isComplete());
    QVERIFY(!stream.isDone());
    QVERIFY(!stream.usage());
    QVERIFY(stream.read(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":7,)"
                        R"("prompt_tokens_details":{"cached_tokens":4},)"
                        R"("completion_tokens_details":{"reasoning_tokens":3}}})"));
    QCOMPARE(stream.usage()->promptTokens, 9);
    QCOMPARE(stream.usage()->completionTokens, 7);
    QCOMPARE(stream.usage()->cachedTokens, 4);
    QCOMPARE(stream.usage()->reasoningTokens, 3);
    QVERIFY(stream.read(" [DONE]"));
    QVERIFY(stream.isDone());

    ChatStream sglang;
    QVERIFY(sglang.read(R"({"choices":[],"usage":{"completion_tokens":7,"reasoning_tokens":2}})"));
    QCOMPARE(sglang.usage()->reasoningTokens, 2);
    QCOMPARE(sglang.finishReason(), FinishReason::Stop);
}

void RemoteProtocolTest::joinsToolCalls()
{
    ChatStream stream;
    const QList<QByteArray> deltas {
        R"({"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":""}}]})",
        R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}]})",
        R"({"tool_calls":[{"index":0,"function":{"name":null,"arguments":": 1}"}},
                          {"index":1,"function":{"arguments":"{}"}}]})"
    };
    for (const QByteArray &delta : deltas)
        QVERIFY(stream.read(chunk(delta)));
    QVERIFY(stream.read(chunk("{}", "\"tool_calls\"")));
    QCOMPARE(stream.finishReason(), FinishReason::ToolCalls);
    QCOMPARE(stream.toolCalls().size(), 2U);
    QCOMPARE(stream.toolCalls()[0].id, std::string("a"));
    QCOMPARE(stream.toolCalls()[0].name, std::string("one"));
    QCOMPARE(stream.toolCalls()[0].argumentsJson, std::string(R"({"x": 1})"));
    QCOMPARE(stream.toolCalls()[1].name, std::string("two"));
    QCOMPARE(stream.toolCalls()[1].argumentsJson, std::string("{}"));
}

void RemoteProtocolTest::refusesACallOutOfPlace()
{
    for (const QByteArray &index : QList<QByteArray> { "-1", "128", "1000000000" })
        QVERIFY(!problemOf(chunk("{\"tool_calls\":[{\"index\":" + index + "}]}")).isEmpty());
}

void RemoteProtocolTest::tellsOfErrors_data()
{
    QTest::addColumn<QByteArray>("event");
    QTest::addColumn<QString>("words");
    QTest::newRow("OpenAI") << QByteArray(R"({"error":{"message":"out of memory","code":500}})")
                            << u"out of memory"_s;
    QTest::newRow("a string") << QByteArray(R"({"error":"no"})") << u"no"_s;
    QTest::newRow("older vLLM") << QByteArray(R"({"object":"error","message":"too long"})")
                                << u"too long"_s;
    QTest::newRow("without words") << QByteArray(R"({"error":{}})") << u"no reason"_s;
    QTest::newRow("no JSON") << QByteArray("{\"a\"") << u"no JSON"_s;
    QTest::newRow("no object") << QByteArray("[1]") << u"no JSON object"_s;
    QTest::newRow("nothing") << QByteArray() << u"no JSON"_s;
}

void RemoteProtocolTest::tellsOfErrors()
{
    QFETCH(QByteArray, event);
    QFETCH(QString, words);
    const QString problem = problemOf(event);
    QVERIFY2(problem.contains(words), qPrintable(problem));
}

void RemoteProtocolTest::writesTheConversation()
{
    using engine::Message;
    using engine::Role;
    std::vector<Message> messages { Message::text(Role::System, "Be brief."),
                                    Message::text(Role::User, "1+1?"),
                                    Message::text(Role::Assistant, "2"),
                                    Message::text(Role::User, "And \"2\"?") };
    messages[2].reasoning = "Sum.";
    messages[2].tokens = { 1, 2, 3 };
    RequestSettings settings;
    settings.set(RequestParameter::ClearThinking, false);
    const QByteArray expected = R"([{"role":"system","content":"Be brief."},
                                    {"role":"user","content":"1+1?"},
                                    {"role":"assistant","content":"2","reasoning_content":"Sum."},
                                    {"role":"user","content":"And \"2\"?"}])";
    QCOMPARE(app::chatBody(u"m"_s, messages, settings)["messages"_L1].toArray(),
             QJsonDocument::fromJson(expected).array());
    settings.set(RequestParameter::ClearThinking, true);
    QVERIFY(!app::chatBody(u"m"_s, messages, settings)["messages"_L1][2].toObject().contains(
        "reasoning_content"_L1));
}

void RemoteProtocolTest::writesOnlyWhatWasChosen()
{
    RequestSettings settings;
    QCOMPARE(app::chatBody(u"m"_s, {}, settings).keys(),
             (QStringList { u"chat_template_kwargs"_s, u"messages"_s, u"model"_s,
                            u"reasoning_effort"_s, u"stream"_s, u"stream_options"_s }));
    settings.set(RequestParameter::Temperature, 0.5);
    settings.set(RequestParameter::TopP, 0.75);
    settings.set(RequestParameter::TopK, 20);
    settings.set(RequestParameter::MinP, 0.25);
    settings.set(RequestParameter::RepetitionPenalty, 1.125);
    settings.set(RequestParameter::PresencePenalty, 0.5);
    settings.set(RequestParameter::FrequencyPenalty, -0.5);
    settings.set(RequestParameter::Seed, 7);
    settings.set(RequestParameter::MaxTokens, 100);
    settings.set(RequestParameter::Stop, QJsonArray { u"END"_s });
    const QJsonObject body = app::chatBody(u"m"_s, {}, settings);
    QCOMPARE(body["temperature"_L1].toDouble(), 0.5);
    QCOMPARE(body["top_p"_L1].toDouble(), 0.75);
    QCOMPARE(body["top_k"_L1].toInt(), 20);
    QCOMPARE(body["min_p"_L1].toDouble(), 0.25);
    QCOMPARE(body["repetition_penalty"_L1].toDouble(), 1.125);
    QCOMPARE(body["presence_penalty"_L1].toDouble(), 0.5);
    QCOMPARE(body["frequency_penalty"_L1].toDouble(), -0.5);
    QCOMPARE(body["seed"_L1].toInt(), 7);
    QCOMPARE(body["max_tokens"_L1].toInt(), 100);
    QCOMPARE(body["stop"_L1].toArray(), QJsonArray { u"END"_s });
    QCOMPARE(body["model"_L1].toString(), u"m"_s);
    QVERIFY(body["stream"_L1].toBool());
    QVERIFY(body["stream_options"_L1]["include_usage"_L1].toBool());
}

void RemoteProtocolTest::writesThinking_data()
{
    QTest::addColumn<QString>("choice");
    QTest::addColumn<bool>("enabled");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("variable");
    QTest::newRow("off") << u"off"_s << false << QString() << QString();
    QTest::newRow("low") << u"low"_s << true << u"low"_s << QString();
    QTest::newRow("high") << u"high"_s << true << u"high"_s << QString();
    QTest::newRow("max") << u"max"_s << true << QString() << u"max"_s;
}

void RemoteProtocolTest::writesThinking()
{
    QFETCH(QString, choice);
    QFETCH(bool, enabled);
    QFETCH(QString, field);
    QFETCH(QString, variable);
    RequestSettings settings;
    settings.set(RequestParameter::Thinking, choice);
    const QJsonObject body = app::chatBody(u"m"_s, {}, settings);
    const QJsonObject variables = body["chat_template_kwargs"_L1].toObject();
    QCOMPARE(variables["enable_thinking"_L1], QJsonValue(enabled));
    QCOMPARE(body["reasoning_effort"_L1].toString(), field);
    QCOMPARE(variables["reasoning_effort"_L1].toString(), variable);
}

void RemoteProtocolTest::readsModels()
{
    QCOMPARE(*app::modelIds(R"({"object":"list","data":[{"id":"a"},{"id":""},{"id":"b/c"},{}]})"),
             (QStringList { u"a"_s, u"b/c"_s }));
    QCOMPARE(*app::modelIds(R"({"data":[]})"), QStringList());
    QVERIFY(!app::modelIds("<html>"));
    QVERIFY(!app::modelIds(R"({"data":{}})"));
}

void RemoteProtocolTest::explainsAStatus_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    const int bad = static_cast<int>(engine::ErrorCode::BadRequest);
    QTest::newRow("401") << 401 << QByteArray(R"({"error":"Unauthorized"})")
                         << QStringList { u"spark:1"_s, u"key"_s, u"401"_s, u"Unauthorized"_s }
                         << bad;
    QTest::newRow("404") << 404
                         << QByteArray(R"({"error":{"message":"The model `x` does not exist."}})")
                         << QStringList { u"/v1/models"_s, u"does not exist"_s } << bad;
    QTest::newRow("422") << 422 << QByteArray(R"({"detail":[{"msg":"Field required"}]})")
                         << QStringList { u"422"_s, u"Field required"_s } << bad;
    QTest::newRow("429") << 429 << QByteArray(R"({"message":"slow down"})")
                         << QStringList { u"429"_s, u"slow down"_s }
                         << static_cast<int>(engine::ErrorCode::QueueFull);
    QTest::newRow("503") << 503 << QByteArray("<html>busy</html>") << QStringList { u"503"_s }
                         << bad;
    QTest::newRow("307") << 307 << QByteArray() << QStringList { u"307"_s, u"not followed"_s }
                         << bad;
    QTest::newRow("context")
        << 400 << QByteArray(R"({"error":{"message":"9 > 8","code":"context_length_exceeded"}})")
        << QStringList { u"9 > 8"_s } << static_cast<int>(engine::ErrorCode::ContextExceeded);
}

void RemoteProtocolTest::explainsAStatus()
{
    QFETCH(int, status);
    QFETCH(QByteArray, body);
    QFETCH(QStringList, words);
    QFETCH(int, code);
    const engine::Error error = app::statusError(QUrl(u"http://spark:1/v1/models"_s), status, body);
    for (const QString &word : words)
        QVERIFY2(QString::fromStdString(error.message).contains(word), error.message.c_str());
    QCOMPARE(static_cast<int>(error.code), code);
    QVERIFY(!QString::fromStdString(error.message).contains(u"<html>"_s));
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::RemoteProtocolTest)
#include "tst_remote_protocol.moc"
