// SPDX-License-Identifier: MIT
//
// Chats that another machine's engine answers, in the whole application: choosing it, what is
// stored, what is kept of a cut answer, the list of engines, their keys, the figures of the panel.
#include "tests/app/remote/scripted_server.h"
#include "tests/app/stored_session.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::EngineController;
using app::MessageBlockModel;
using app::RemoteEngines;

QByteArray chunk(const QByteArray &delta, const QByteArray &finish = "null")
{
    return "{\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":" + finish + "}]}";
}

const QList<QByteArray> kAnswer {
    chunk(R"({"reasoning_content":"Hm."})"), chunk(R"({"content":"Four."})"),
    chunk("{}", "\"stop\""), R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}})",
    "[DONE]"
};

struct RemoteSession : Session
{
    RemoteSession()
    {
        location = {}; // no model on this machine
        server.answer = [this](const ScriptedRequest &request) {
            if (request.line.startsWith("GET /v1/models"))
                return statusAnswer("200 OK", R"({"data":[{"id":"glm"},{"id":"other"}]})");
            if (request.line.startsWith("GET /metrics"))
                return statusAnswer("200 OK", metrics);
            return streamAnswer(answer, closes);
        };
    }

    bool begin()
    {
        make();
        application->start();
        return QTest::qWaitFor(
            [this] { return application->engine()->state() == EngineController::State::NoModel; });
    }
    RemoteEngines *engines() const { return application->remotes(); }
    // The id of the one that was added.
    QString add(const QString &name, const QString &key = {}) const
    {
        const QString problem = engines()->save({}, name, server.base().toString(), u"glm"_s, key);
        return problem.isEmpty()
            ? engines()->index(engines()->count() - 1).data(RemoteEngines::EngineIdRole).toString()
            : QString();
    }
    QByteArray settingsText() const
    {
        QFile file(folder.filePath(u"settings.ini"_s));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QString textOfRow(int type, int role) const
    {
        const qsizetype row = types().indexOf(type);
        return row < 0 ? QString() : value(static_cast<int>(row), role).toString();
    }

    ScriptedServer server;
    QList<QByteArray> answer = kAnswer;
    bool closes = true;
    QByteArray metrics;
};

} // namespace

class RemoteChatTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void isAnsweredWithoutAModelHere();
    void keepsWhatCameOfACutAnswer();
    void canBeStopped();
    void goesOnFromAnotherMachine();
    void newChatsTakeTheDefault();
    void fallsBackWhenItsEngineIsRemoved();
    void keepsKeysOutOfTheSettings();
    void aKeyStaysWithItsAddress();
    void refusesWhatCannotBeAnEngine();
    void testsAnAddress();
    void leavesOutBrokenEntries();
    void showsTheOthersFigures();
};

void RemoteChatTest::isAnsweredWithoutAModelHere()
{
    RemoteSession session;
    QVERIFY(session.begin());
    QVERIFY(!session.chat()->canSend());
    const QString id = session.add(u"Two Sparks"_s, u"secret"_s);
    session.chat()->options()->chooseEngine(id);
    QVERIFY(session.chat()->isRemote());
    QVERIFY(session.chat()->canSend());
    QCOMPARE(session.chat()->contextTokens(), 0);
    session.chat()->options()->setThinkingEffort(1);
    QVERIFY(session.say(u"2+2?"_s));
    QCOMPARE(session.textOfRow(MessageBlockModel::Paragraph, MessageBlockModel::SourceRole),
             u"Four."_s);
    QVERIFY(session.textOfRow(MessageBlockModel::Statistics, MessageBlockModel::StatisticsRole)
                .contains(u"5 tokens"_s));
    QCOMPARE(session.chat()->promptTokens(), 14);
    const ScriptedRequest request = session.server.requests.value(0);
    QVERIFY(request.head.contains("\r\nauthorization: bearer secret\r\n"));
    const QJsonObject body = QJsonDocument::fromJson(request.body).object();
    QCOMPARE(body["model"_L1].toString(), u"glm"_s);
    QCOMPARE(body["reasoning_effort"_L1].toString(), u"low"_s);
    QCOMPARE(body["messages"_L1].toArray().last()["content"_L1].toString(), u"2+2?"_s);

    // The next turn brings the first, after a restart as well; without its thinking, as usual.
    QVERIFY(session.begin());
    QTRY_COMPARE(session.list()->rowCount(), 1);
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->options()->engineId(), id);
    QCOMPARE(session.chat()->options()->engineName(), u"Two Sparks"_s);
    QVERIFY(session.say(u"And 3+3?"_s));
    const QJsonArray messages = QJsonDocument::fromJson(session.server.requests.value(1).body)
                                    .object()["messages"_L1]
                                    .toArray();
    QCOMPARE(messages.size(), 3);
    QCOMPARE(messages[1]["content"_L1].toString(), u"Four."_s);
    QVERIFY(!messages[1].toObject().contains("reasoning_content"_L1));
    const app::RecordId chat = session.chat()->id();
    const app::StoredConversation stored = session.read(
        [chat](const QSqlDatabase &database) { return app::loadWhole(database, chat); });
    QCOMPARE(stored.messages.size(), 4U);
    QCOMPARE(stored.messages[1].model, u"glm (Two Sparks)"_s);
    QVERIFY(stored.messages[1].vocabulary.empty());
    QCOMPARE(stored.messages[1].statistics->usage.completionTokens, 5);
    QCOMPARE(stored.messages[1].statistics->usage.reasoningTokens, 1);
}

void RemoteChatTest::keepsWhatCameOfACutAnswer()
{
    RemoteSession session;
    session.answer = { chunk(R"({"content":"Fo"})") };
    QVERIFY(session.begin());
    session.chat()->options()->chooseEngine(session.add(u"Two Sparks"_s));
    QVERIFY(session.say(u"2+2?"_s));
    QCOMPARE(session.textOfRow(MessageBlockModel::Paragraph, MessageBlockModel::SourceRole),
             u"Fo"_s);
    const QString error
        = session.textOfRow(MessageBlockModel::Error, MessageBlockModel::ErrorTextRole);
    QVERIFY2(error.contains(u"before the answer was complete"_s), qPrintable(error));
    QCOMPARE(session.textOfRow(MessageBlockModel::Error, MessageBlockModel::ErrorActionRole),
             u"retry"_s);
    // Trying again asks the same engine, not for a model here.
    session.answer = kAnswer;
    session.chat()->retry();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.textOfRow(MessageBlockModel::Paragraph, MessageBlockModel::SourceRole),
             u"Four."_s);
    QCOMPARE(session.server.requests.size(), 2);
}

void RemoteChatTest::canBeStopped()
{
    RemoteSession session;
    session.answer = { chunk(R"({"content":"Fo"})") };
    session.closes = false;
    QVERIFY(session.begin());
    session.chat()->options()->chooseEngine(session.add(u"Two Sparks"_s));
    session.chat()->send(u"2+2?"_s);
    QTRY_COMPARE(session.textOfRow(MessageBlockModel::Paragraph, MessageBlockModel::SourceRole),
                 u"Fo"_s);
    session.chat()->stop();
    QVERIFY(session.waitIdle());
    QTRY_COMPARE(session.server.openConnections(), 0);
    QVERIFY(session.textOfRow(MessageBlockModel::Statistics, MessageBlockModel::StatisticsRole)
                .contains(u"Stopped"_s));
}

void RemoteChatTest::goesOnFromAnotherMachine()
{
    RemoteSession session;
    session.script = answering("Here.", "Thought.");
    session.location = { "/models/glimmer", {} };
    QVERIFY(session.start());
    QVERIFY(session.say(u"Where?"_s));
    session.chat()->options()->chooseEngine(session.add(u"Two Sparks"_s));
    QVERIFY(session.say(u"And now?"_s));
    QCOMPARE(session.server.requests.size(), 1);
    session.chat()->options()->chooseEngine({});
    QVERIFY(!session.chat()->isRemote());
    QVERIFY(session.say(u"And again?"_s));
    QCOMPARE(session.server.requests.size(), 1);
    const std::vector<engine::Message> messages = session.fake->lastMessages();
    QCOMPARE(messages.size(), 5U);
    QCOMPARE(messages[3].content.at(0).text, std::string("Four."));
    QCOMPARE(messages[3].reasoning.value_or(""), std::string("Hm."));
    QVERIFY(messages[1].tokens.has_value());
    QVERIFY(!messages[3].tokens.has_value()); // not of this model
}

void RemoteChatTest::newChatsTakeTheDefault()
{
    RemoteSession session;
    QVERIFY(session.begin());
    const QString id = session.add(u"Two Sparks"_s);
    QVERIFY(!session.chat()->isRemote());
    session.engines()->makeDefault(id);
    QVERIFY(session.chat()->isRemote()); // it has no message yet
    QVERIFY(session.say(u"2+2?"_s));
    session.engines()->makeDefault({});
    QVERIFY(session.chat()->isRemote()); // it has its engine now
    session.application->newConversation();
    QVERIFY(!session.chat()->isRemote());
    session.engines()->makeDefault(id);
    session.application->restoreDefaults();
    QVERIFY(!session.chat()->isRemote());
    QCOMPARE(session.engines()->count(), 1);
}

void RemoteChatTest::fallsBackWhenItsEngineIsRemoved()
{
    RemoteSession session;
    QVERIFY(session.begin());
    const QString id = session.add(u"Two Sparks"_s);
    session.engines()->makeDefault(id);
    QVERIFY(session.say(u"2+2?"_s));
    QCOMPARE(session.chat()->options()->engineNotice(), QString());
    session.engines()->remove(id);
    QVERIFY(!session.chat()->isRemote());
    QVERIFY(!session.chat()->canSend());
    QVERIFY(session.chat()->options()->engineNotice().contains(u"Two Sparks was removed"_s));
    QCOMPARE(session.engines()->defaultId(), QString());
}

void RemoteChatTest::keepsKeysOutOfTheSettings()
{
    RemoteSession session;
    QVERIFY(session.begin());
    const QString id = session.add(u"Two Sparks"_s, u"secret-key"_s);
    QVERIFY(session.engines()
                ->index(0)
                .data(RemoteEngines::KeyTextRole)
                .toString()
                .contains(u"until you quit"_s));
    QVERIFY(session.begin()); // which writes the settings and reads them
    QCOMPARE(session.engines()->count(), 1);
    QVERIFY(session.settingsText().contains("Two Sparks"));
    QVERIFY(!session.settingsText().contains("secret-key"));
    QCOMPARE(session.engines()->find(id)->model, u"glm"_s);
    QVERIFY(session.engines()->keyOf(*session.engines()->find(id)).isEmpty()); // no keychain here
}

void RemoteChatTest::aKeyStaysWithItsAddress()
{
    RemoteSession session;
    QVERIFY(session.begin());
    const QString id = session.add(u"Two Sparks"_s, u"secret"_s);
    const QString there = session.server.base().toString();
    const auto key = [&] { return session.engines()->keyOf(*session.engines()->find(id)); };
    QCOMPARE(session.engines()->save(id, u"Renamed"_s, there + u"/v1"_s, u"other"_s, {}),
             QString());
    QCOMPARE(key(), QByteArray("secret"));
    QCOMPARE(session.engines()->save(id, u"Moved"_s, u"http://elsewhere:8000"_s, u"glm"_s, {}),
             QString());
    QVERIFY(key().isEmpty());
    QCOMPARE(session.engines()->save(id, u"Back"_s, there, u"glm"_s, {}), QString());
    QVERIFY(key().isEmpty()); // it was forgotten, not put aside
    QCOMPARE(session.engines()->count(), 1);
}

void RemoteChatTest::refusesWhatCannotBeAnEngine()
{
    RemoteSession session;
    QVERIFY(session.begin());
    QVERIFY(!session.engines()->save({}, u"a"_s, u"ftp://a"_s, u"m"_s, {}).isEmpty());
    QVERIFY(!session.engines()->save({}, u" "_s, u"http://a"_s, u"m"_s, {}).isEmpty());
    QVERIFY(!session.engines()->save({}, u"a"_s, u"http://a"_s, u""_s, {}).isEmpty());
    QCOMPARE(session.engines()->count(), 0);
}

void RemoteChatTest::testsAnAddress()
{
    RemoteSession session;
    QVERIFY(session.begin());
    session.engines()->test({}, session.server.base().toString(), u"secret"_s);
    QVERIFY(session.engines()->isTesting());
    QTRY_VERIFY(!session.engines()->isTesting());
    QVERIFY(!session.engines()->hasTestFailed());
    QCOMPARE(session.engines()->testModels(), (QStringList { u"glm"_s, u"other"_s }));
    QVERIFY(session.server.requests.value(0).head.contains("bearer secret"));
    session.server.answer = [](const ScriptedRequest &) {
        return statusAnswer("401 Unauthorized", R"({"error":"Unauthorized"})");
    };
    session.engines()->test({}, session.server.base().toString(), u"wrong"_s);
    QTRY_VERIFY(!session.engines()->isTesting());
    QVERIFY(session.engines()->hasTestFailed());
    QVERIFY(session.engines()->testText().contains(u"401"_s));
    QVERIFY(session.engines()->testModels().isEmpty());
    session.engines()->test({}, u"no address"_s, {});
    QVERIFY(session.engines()->hasTestFailed());
    // One that is given up tells nothing any more.
    session.engines()->test({}, session.server.base().toString(), {});
    session.engines()->forgetTest();
    QVERIFY(!session.engines()->isTesting());
    QCOMPARE(session.engines()->testText(), QString());
}

void RemoteChatTest::leavesOutBrokenEntries()
{
    RemoteSession session;
    session.make();
    session.application->settings()->setRemoteEngines(
        uR"([1,{"id":"a","name":"A","address":"ftp://x"},{"id":"","name":"B","address":"x"},
             {"id":"c","name":"C","address":"http://x:1/v1","model":"m"},
             {"id":"c","name":"D","address":"http://y"}])"_s);
    session.make();
    QCOMPARE(session.engines()->count(), 1);
    QCOMPARE(session.engines()->find(u"c"_s)->base.toString(), u"http://x:1"_s);
    session.application->settings()->setRemoteEngines(u"no JSON"_s);
    session.make();
    QCOMPARE(session.engines()->count(), 0);
}

void RemoteChatTest::showsTheOthersFigures()
{
    RemoteSession session;
    session.metrics = "vllm:num_requests_running{model_name=\"m\"} 3\n"
                      "vllm:kv_cache_usage_perc 0.5\n";
    QVERIFY(session.begin());
    app::RemoteMonitor *monitor = session.application->remoteMonitor();
    const auto figure = [&](const QString &name) {
        for (const app::MetricHistory *metric : monitor->metrics()) {
            if (metric->name() == name)
                return metric->text();
        }
        return QString();
    };
    monitor->setWatched(true);
    QVERIFY(!monitor->isActive());
    session.chat()->options()->chooseEngine(session.add(u"Two Sparks"_s, u"secret"_s));
    QVERIFY(monitor->isActive());
    QCOMPARE(monitor->name(), u"Two Sparks"_s);
    QTRY_COMPARE(monitor->stateText(), u"vLLM"_s);
    QCOMPARE(figure(u"Running there"_s), u"3 requests"_s);
    QCOMPARE(figure(u"Its context memory in use"_s), u"50 %"_s);
    QCOMPARE(figure(u"Waiting there"_s), u"not available"_s);
    QVERIFY(session.server.requests.value(0).head.contains("bearer secret"));
    session.metrics = "go_goroutines 1\n";
    QTRY_VERIFY(monitor->stateText().startsWith(u"Not available"_s));
    QTRY_COMPARE(figure(u"Running there"_s), u"not available"_s);
    // Another chat, which this machine answers.
    session.application->newConversation();
    QVERIFY(monitor->isActive()); // it was this one, which has no message yet
    session.chat()->options()->chooseEngine({});
    QVERIFY(!monitor->isActive());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::RemoteChatTest)
#include "tst_remote_chat.moc"
