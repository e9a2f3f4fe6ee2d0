// SPDX-License-Identifier: MIT
//
// Settings on the real engine with the model that comes with the program.
#include "app/application.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QDir>
#include <QTemporaryDir>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::Application;
using app::ConversationController;
using app::EngineController;
using app::RequestParameter;

constexpr int kAnswerTimeout = 90'000; // milliseconds; a busy machine is slow

int row(RequestParameter parameter) { return static_cast<int>(parameter); }

} // namespace

class SettingsGlimmerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void temperatureZeroAndASeedRepeat();
    void aSystemPromptReachesTheTokens();
    void anotherContextKeepsTheChat();
    void anImpossibleContextIsRefused();

private:
    ConversationController *chat() const { return m_application->conversation(); }
    EngineController *engine() const { return m_application->engine(); }
    bool say(const QString &text)
    {
        chat()->send(text);
        return QTest::qWaitFor([this] { return !chat()->isBusy(); }, kAnswerTimeout);
    }
    void newChat(const QString &seed, double temperature)
    {
        m_application->newConversation();
        auto *parameters = chat()->options()->parameters();
        parameters->setNumber(row(RequestParameter::Temperature), temperature);
        parameters->setText(row(RequestParameter::Seed), seed);
        parameters->setText(row(RequestParameter::MaxTokens), u"40"_s);
        chat()->setThinkingEffort(ConversationController::Off);
    }
    QString answerOfNewChat(const QString &seed, double temperature)
    {
        newChat(seed, temperature);
        return say(u"What is a hash map?"_s) ? chat()->messageSource(1) : QString();
    }

    QTemporaryDir m_folder;
    std::unique_ptr<Application> m_application;
};

void SettingsGlimmerTest::initTestCase()
{
    app::ApplicationSetup setup;
    setup.settingsFile = m_folder.filePath(u"settings.ini"_s);
    setup.databaseFile = m_folder.filePath(u"firesteel.db"_s);
    setup.engine.findModel = [] { return app::ModelLocation { FIRESTEEL_GLIMMER "/model", {} }; };
    app::AppSettings settings(setup.settingsFile);
    engine::LoadOptions load;
    load.contextTokens = 2048;
    load.memoryReserveBytes = 256ULL << 20U;
    settings.setLoadOptions(load);
    m_application = std::make_unique<Application>(engine::createEngine({}), std::move(setup));
    m_application->start();
    QVERIFY(QTest::qWaitFor([this] { return engine()->state() == EngineController::State::Ready; },
                            kAnswerTimeout));
    QCOMPARE(engine()->contextTokens(), 2048);
}

void SettingsGlimmerTest::temperatureZeroAndASeedRepeat()
{
    const QString greedy = answerOfNewChat(u"random"_s, 0);
    QVERIFY(!greedy.isEmpty());
    QCOMPARE(answerOfNewChat(u"random"_s, 0), greedy);
    const QString seeded = answerOfNewChat(u"7"_s, 1.5);
    QCOMPARE(answerOfNewChat(u"7"_s, 1.5), seeded);
    QVERIFY(answerOfNewChat(u"8"_s, 1.5) != seeded);
}

void SettingsGlimmerTest::aSystemPromptReachesTheTokens()
{
    const auto oneToken = [this] {
        m_application->newConversation();
        auto *parameters = chat()->options()->parameters();
        parameters->setText(row(RequestParameter::MaxTokens), u"1"_s);
        chat()->setThinkingEffort(ConversationController::Off);
    };
    oneToken();
    QVERIFY(say(u"hello"_s));
    const int without = chat()->promptTokens();
    app::RequestSettings settings;
    settings.set(RequestParameter::SystemPrompt, u"Always answer in verse. "_s.repeated(8));
    m_application->presets()->add(u"Poet"_s, settings);
    m_application->presets()->makeDefault(m_application->presets()->currentRow());
    oneToken();
    QCOMPARE(chat()->options()->presetName(), u"Poet"_s);
    QVERIFY(say(u"hello"_s));
    // A word is a token or more.
    QVERIFY2(chat()->promptTokens() - without >= 8 * 4,
             qPrintable(u"%1, %2"_s.arg(chat()->promptTokens()).arg(without)));
    m_application->presets()->makeDefault(0);
}

void SettingsGlimmerTest::anotherContextKeepsTheChat()
{
    newChat(u"1"_s, 0);
    QVERIFY(say(u"What is a hash map?"_s));
    const QString answer = chat()->messageSource(1);
    auto *load = m_application->loadSettings();
    load->setContextTokens(1024);
    QTRY_VERIFY(load->canApply());
    const QString needed = load->needText();
    load->applyNow();
    QTRY_COMPARE_WITH_TIMEOUT(engine()->contextTokens(), 1024, kAnswerTimeout);
    QTRY_COMPARE_WITH_TIMEOUT(engine()->state(), EngineController::State::Ready, kAnswerTimeout);
    QCOMPARE(chat()->messageSource(1), answer);
    QVERIFY(say(u"Go on."_s));
    QCOMPARE(chat()->blocks()->messages().size(), 4U);
    QTRY_COMPARE(load->needText(), needed);
}

void SettingsGlimmerTest::anImpossibleContextIsRefused()
{
    auto *load = m_application->loadSettings();
    load->setContextTokens(load->longestContext() + 1);
    QTRY_VERIFY(load->refusal().contains(QString::number(load->longestContext())));
    QVERIFY(!load->canApply());
    load->setContextTokens(load->longestContext());
    load->setReserveGibibytes(900);
    QTRY_VERIFY(load->refusal().contains(u"0 MiB are free beside the reserve of 900.0 GiB"_s));
    QVERIFY2(load->refusal().contains(u" needs "_s), qPrintable(load->refusal()));
    load->applyNow();
    QCOMPARE(engine()->state(), EngineController::State::Ready); // and nothing was tried
    load->discard();
    QTRY_VERIFY(load->canApply());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::SettingsGlimmerTest)
#include "tst_settings_glimmer.moc"
