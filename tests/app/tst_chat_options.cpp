// SPDX-License-Identifier: MIT
//
// How a chat is answered, over a scripted engine: presets and what differs from them reach the
// request, are stored with the chat, and travel with its export.
#include "app/application.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"
#include "tests/support/fake_engine.h"

#include <QJsonArray>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::Application;
using app::ApplicationSetup;
using app::ChatOptions;
using app::ConversationController;
using app::EngineController;
using app::PresetLibrary;
using app::RequestParameter;

int row(RequestParameter parameter) { return static_cast<int>(parameter); }

// An application that can be started again, on the same files or on another computer's.
struct Session
{
    explicit Session(const QString &place = u"here"_s) { start(place); }

    void start(const QString &place)
    {
        application.reset();
        FakeScript script;
        script.samplingDefaults.temperature = 0.6F;
        script.samplingDefaults.topP = 0.95F;
        auto engine = std::make_unique<FakeEngine>(script);
        fake = engine.get();
        ApplicationSetup setup;
        setup.settingsFile = folder.filePath(place + u".ini"_s);
        setup.databaseFile = folder.filePath(place + u"/firesteel.db"_s);
        setup.engine.findModel = [] { return app::ModelLocation { "/models/glimmer", {} }; };
        application = std::make_unique<Application>(std::move(engine), std::move(setup));
        QSignalSpy listed(application->conversations(), &QAbstractItemModel::modelReset);
        QSignalSpy read(application->presets(), &QAbstractItemModel::modelReset);
        application->start();
        if (!QTest::qWaitFor([&] {
                return !listed.isEmpty() && !read.isEmpty()
                    && application->engine()->state() == EngineController::State::Ready;
            }))
            qFatal("the application does not start");
    }

    ConversationController *chat() const { return application->conversation(); }
    ChatOptions *options() const { return chat()->options(); }
    PresetLibrary *presets() const { return application->presets(); }
    bool waitIdle() const
    {
        return QTest::qWaitFor([this] { return !chat()->isBusy() && !chat()->isLoading(); });
    }
    bool say(const QString &text)
    {
        chat()->send(text);
        return waitIdle();
    }
    bool open(int conversation)
    {
        application->openConversation(conversation);
        return waitIdle();
    }
    // A preset with a prompt, its own temperature and a seed. Returns its id as text.
    QString addPreset(const QString &name) const
    {
        app::RequestSettings settings;
        settings.set(RequestParameter::SystemPrompt, u"Answer like "_s + name);
        settings.set(RequestParameter::Temperature, 0.2);
        settings.set(RequestParameter::Seed, 42);
        settings.set(RequestParameter::Thinking, u"off"_s);
        return QString::number(presets()->add(name, settings));
    }
    engine::SamplingParams lastSampling() const { return fake->lastRequest().sampling; }

    QTemporaryDir folder;
    FakeEngine *fake = nullptr;
    std::unique_ptr<Application> application;
};

} // namespace

class ChatOptionsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asksWithTheModelsDefaults();
    void aPresetReachesTheRequest();
    void ownChoicesReachTheRequestAndStay();
    void aThinkingBudgetEndsTheThinking();
    void resettingGoesBackToThePreset();
    void newChatsStartWithTheDefault();
    void aChangedPresetChangesItsChats();
    void aDeletedPresetGoesOnWorking();
    void exportsAndImportsWithoutLoss();
    void savesWhatAppliesAsAPreset();
    void readsTheEffortOfEarlierVersions();
    void storedNonsenseIsMendedWithANote();
};

void ChatOptionsTest::asksWithTheModelsDefaults()
{
    Session session;
    QVERIFY(session.say(u"go"_s));
    QCOMPARE(session.lastSampling().temperature, 0.6F);
    QCOMPARE(session.lastSampling().topP, 0.95F);
    QVERIFY(!session.lastSampling().seed);
    QVERIFY(!session.fake->lastRequest().maxTokens);
    QCOMPARE(session.fake->lastMessages().size(), 1U);
    QVERIFY(!session.options()->differs());
    QCOMPARE(session.options()->presetName(), u"Standard"_s);
}

void ChatOptionsTest::aPresetReachesTheRequest()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Off);
    QVERIFY(session.say(u"go"_s));
    const auto messages = session.fake->lastMessages();
    QCOMPARE(messages.size(), 2U);
    QVERIFY(messages[0].role == engine::Role::System);
    QCOMPARE(messages[0].content.front().text, std::string("Answer like a pirate"));
    QCOMPARE(session.lastSampling().temperature, 0.2F);
    QCOMPARE(session.lastSampling().topP, 0.95F); // the model's
    QCOMPARE(session.lastSampling().seed, std::optional<std::uint64_t>(42));
    QVERIFY(!session.fake->lastOptions().thinking);
}

void ChatOptionsTest::ownChoicesReachTheRequestAndStay()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    auto *parameters = session.options()->parameters();
    parameters->setNumber(row(RequestParameter::Temperature), 0.8);
    parameters->setText(row(RequestParameter::MaxTokens), u"77"_s);
    parameters->setText(row(RequestParameter::Stop), u"\\n\\n\nEND"_s);
    parameters->setText(row(RequestParameter::Seed), u"random"_s); // although the preset has one
    parameters->setText(row(RequestParameter::DraftTokens), u"7"_s);
    QVERIFY(session.options()->differs());
    QCOMPARE(parameters->chosenCount(), 5);
    const auto check = [&session] {
        QCOMPARE(session.lastSampling().temperature, 0.8F);
        QVERIFY(!session.lastSampling().seed);
        QCOMPARE(session.fake->lastRequest().maxTokens, std::optional(77));
        QCOMPARE(session.fake->lastRequest().drafting.tokens, std::optional(7));
        QCOMPARE(session.fake->lastRequest().stop, std::vector<std::string>({ "\n\n", "END" }));
        QCOMPARE(session.fake->lastMessages().front().content.front().text,
                 std::string("Answer like a pirate"));
    };
    QVERIFY(session.say(u"go"_s));
    check();
    session.application->newConversation();
    QVERIFY(!session.options()->differs()); // this chat only
    session.start(u"here"_s);
    QVERIFY(session.open(0));
    QCOMPARE(session.options()->presetName(), u"a pirate"_s);
    QCOMPARE(session.options()->parameters()->chosenCount(), 5);
    QVERIFY(session.say(u"again"_s));
    check();
}

void ChatOptionsTest::aThinkingBudgetEndsTheThinking()
{
    Session session;
    auto *parameters = session.options()->parameters();
    parameters->setText(row(RequestParameter::ThinkingBudget), u"3"_s);
    QVERIFY(session.say(u"go"_s));
    QCOMPARE(session.fake->lastRequest().thinkingBudget, std::optional(3));
    const app::ShownMessage &answer = session.chat()->blocks()->messages().back();
    QCOMPARE(answer.thinking, std::string("The question"));
    QCOMPARE(answer.text, std::string("Hello from **Glimmer**."));
    session.start(u"here"_s);
    QVERIFY(session.open(0));
    QVERIFY(session.say(u"again"_s));
    QCOMPARE(session.fake->lastRequest().thinkingBudget, std::optional(3));
    session.options()->resetToPreset();
    QVERIFY(session.say(u"and again"_s));
    QVERIFY(!session.fake->lastRequest().thinkingBudget);
}

void ChatOptionsTest::resettingGoesBackToThePreset()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    session.chat()->setThinkingEffort(ConversationController::Max);
    QVERIFY(session.say(u"go"_s));
    QVERIFY(session.options()->differs());
    QSignalSpy effort(session.chat(), &ConversationController::thinkingEffortChanged);
    session.options()->resetToPreset();
    QVERIFY(!session.options()->differs());
    QVERIFY(!effort.isEmpty());
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Off);
    session.start(u"here"_s);
    QVERIFY(session.open(0));
    QVERIFY(!session.options()->differs());
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Off);
}

void ChatOptionsTest::newChatsStartWithTheDefault()
{
    Session session;
    QVERIFY(session.say(u"first"_s));
    session.application->newConversation();
    session.addPreset(u"a pirate"_s);
    session.presets()->makeDefault(1);
    QCOMPARE(session.options()->presetName(), u"a pirate"_s); // the blank chat follows
    QVERIFY(session.say(u"second"_s));
    session.presets()->makeDefault(0);
    QCOMPARE(session.options()->presetName(), u"a pirate"_s); // from now on it is the chat's
    session.start(u"here"_s);
    QCOMPARE(session.options()->presetName(), u"Standard"_s);
    QVERIFY(session.open(0));
    QCOMPARE(session.options()->presetName(), u"a pirate"_s);
    QVERIFY(session.open(1));
    QCOMPARE(session.options()->presetName(), u"Standard"_s);
}

void ChatOptionsTest::aChangedPresetChangesItsChats()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    QVERIFY(session.say(u"go"_s));
    session.presets()->rename(1, u"a corsair"_s);
    session.presets()->parameters()->setNumber(row(RequestParameter::Temperature), 1.5);
    QCOMPARE(session.options()->presetName(), u"a corsair"_s);
    QVERIFY(session.say(u"go on"_s));
    QCOMPARE(session.lastSampling().temperature, 1.5F);
    // The chat has the newest copy.
    session.presets()->remove(1);
    session.start(u"here"_s);
    QVERIFY(session.open(0));
    QCOMPARE(session.options()->presetName(), u"a corsair"_s);
    QVERIFY(session.say(u"and on"_s));
    QCOMPARE(session.lastSampling().temperature, 1.5F);
}

void ChatOptionsTest::aDeletedPresetGoesOnWorking()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    QVERIFY(session.say(u"go"_s));
    QVERIFY(!session.options()->isPresetGone());
    session.presets()->remove(1);
    QVERIFY(session.options()->isPresetGone());
    QVERIFY(session.say(u"go on"_s));
    QCOMPARE(session.lastSampling().temperature, 0.2F);
    session.presets()->undoRemove();
    QVERIFY(!session.options()->isPresetGone());
    session.options()->choosePreset(u"12345"_s); // no such preset
    QCOMPARE(session.options()->presetName(), u"a pirate"_s);
}

void ChatOptionsTest::exportsAndImportsWithoutLoss()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    session.options()->parameters()->setNumber(row(RequestParameter::TopK), 9);
    session.options()->parameters()->setNumber(row(RequestParameter::ThinkingBudget), 4096);
    QVERIFY(session.say(u"go"_s));
    const QUrl file = QUrl::fromLocalFile(session.folder.filePath(u"chats.json"_s));
    session.application->exportConversations({}, file);
    QTRY_VERIFY(!session.application->isExchanging());

    session.start(u"elsewhere"_s); // where nobody knows the preset
    QCOMPARE(session.presets()->rowCount(), 1);
    session.application->importConversations(file);
    QTRY_VERIFY(!session.application->isExchanging());
    QTRY_COMPARE(session.application->conversations()->rowCount(), 1);
    QVERIFY(session.open(0));
    QCOMPARE(session.options()->presetName(), u"a pirate"_s);
    QVERIFY(session.options()->isPresetGone());
    QCOMPARE(session.options()->parameters()->chosenCount(), 2);
    QVERIFY(session.say(u"go on"_s));
    QCOMPARE(session.lastSampling().temperature, 0.2F);
    QCOMPARE(session.lastSampling().topK, 9);
    QCOMPARE(session.fake->lastRequest().thinkingBudget, std::optional(4096));
    QCOMPARE(session.fake->lastMessages().front().content.front().text,
             std::string("Answer like a pirate"));
}

void ChatOptionsTest::savesWhatAppliesAsAPreset()
{
    Session session;
    session.options()->choosePreset(session.addPreset(u"a pirate"_s));
    session.options()->parameters()->setNumber(row(RequestParameter::TopK), 9);
    QVERIFY(session.say(u"go"_s));
    session.options()->saveAsPreset();
    QCOMPARE(session.presets()->rowCount(), 3);
    QCOMPARE(session.options()->presetName(), u"a pirate 2"_s);
    QVERIFY(!session.options()->differs());
    QVERIFY(session.say(u"go on"_s));
    QCOMPARE(session.lastSampling().topK, 9);
    QCOMPARE(session.lastSampling().temperature, 0.2F);
}

void ChatOptionsTest::readsTheEffortOfEarlierVersions()
{
    app::PresetLibrary *presets = nullptr;
    Session session;
    presets = session.presets();
    ChatOptions options(*presets, *session.application->remotes());
    options.load({ { u"thinkingEffort"_s, 3 }, { u"later"_s, QJsonArray { 1, 2 } } });
    QCOMPARE(options.thinkingEffort(), 3);
    QVERIFY(options.notice().isEmpty());
    const QJsonObject json = options.json();
    QVERIFY(!json.contains(u"thinkingEffort"_s));
    QCOMPARE(json[u"later"_s], QJsonValue(QJsonArray { 1, 2 }));
    ChatOptions again(*presets, *session.application->remotes());
    again.load(json);
    QCOMPARE(again.json(), json);
    QCOMPARE(again.thinkingEffort(), 3);
    again.load({ { u"thinkingEffort"_s, 99 } });
    QCOMPARE(again.thinkingEffort(), 1);
}

void ChatOptionsTest::storedNonsenseIsMendedWithANote()
{
    Session session;
    QVERIFY(session.say(u"go"_s));
    valueOf(waitFor(session.application->database()->write([](const QSqlDatabase &sql) {
        return app::executeAll(
            sql,
            { u"UPDATE conversations SET settings = '{\"preset\": [7], \"overrides\":"
              " {\"temperature\": -9, \"topK\": \"many\", \"stop\": {\"a\": 1}}}'"_s });
    })));
    session.start(u"here"_s);
    QVERIFY(session.open(0));
    QVERIFY2(session.options()->notice().contains(u"Temperature"_s)
                 && session.options()->notice().contains(u"Top-k"_s),
             qPrintable(session.options()->notice()));
    QCOMPARE(session.options()->presetName(), u"Standard"_s);
    QVERIFY(session.say(u"go on"_s));
    QCOMPARE(session.lastSampling().temperature, 0.0F);
    QVERIFY(session.fake->lastRequest().stop.empty());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::ChatOptionsTest)
#include "tst_chat_options.moc"
