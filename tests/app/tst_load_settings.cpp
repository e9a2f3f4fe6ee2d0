// SPDX-License-Identifier: MIT
//
// How a model is loaded, over a scripted engine: figures while editing, refusals, what takes effect
// when, and that a chat outlives it.
#include "app/application.h"
#include "tests/support/fake_engine.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::Application;
using app::ApplicationSetup;
using app::EngineController;
using app::LoadSettings;

constexpr std::uint64_t kGibibyte = 1ULL << 30;

struct Session
{
    Session() { start(); }

    void start()
    {
        application.reset();
        FakeScript script;
        script.contextTokens = 262'144;
        script.weightBytes = kGibibyte;
        script.bytesPerToken = 16'384; // 4 GiB at the longest
        script.availableBytes = 6 * kGibibyte;
        auto engine = std::make_unique<FakeEngine>(script);
        fake = engine.get();
        ApplicationSetup setup;
        setup.settingsFile = folder.filePath(u"settings.ini"_s);
        setup.databaseFile = folder.filePath(u"firesteel.db"_s);
        setup.engine.findModel = [this] {
            return hasModel ? app::ModelLocation { "/models/glimmer", {} }
                            : app::ModelLocation { {}, { u"/models"_s } };
        };
        application = std::make_unique<Application>(std::move(engine), std::move(setup));
    }

    bool waitReady()
    {
        application->start();
        return QTest::qWaitFor(
            [this] { return engine()->state() == EngineController::State::Ready; });
    }

    LoadSettings *load() const { return application->loadSettings(); }
    EngineController *engine() const { return application->engine(); }

    bool hasModel = true;
    QTemporaryDir folder;
    FakeEngine *fake = nullptr;
    std::unique_ptr<Application> application;
};

} // namespace

class LoadSettingsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void showsWhatTheDraftNeeds();
    void refusesWithBothNumbers();
    void refusesMoreThanTheModelAllows();
    void reloadsAndKeepsTheChat();
    void waitsForTheNextStart();
    void discards();
    void readsFields();
    void aFileThatWasEditedIsMended();
    void withoutAModelThereAreNoFigures();
    void restoresDefaults();
    void thePanelMarksTheReserve();
    void endsWhileEstimating();
};

void LoadSettingsTest::showsWhatTheDraftNeeds()
{
    Session session;
    QVERIFY(session.waitReady());
    // Beside 1 GiB of weights and the reserve of 2 GiB, 3 of the 4 GiB of the longest fit.
    QTRY_COMPARE(session.load()->estimatedContext(), 196'608);
    QCOMPARE(session.engine()->contextTokens(), 196'608);
    QVERIFY(session.load()->canApply());
    session.load()->setContextTokens(65'536);
    QTRY_VERIFY(session.load()->canApply());
    QCOMPARE(session.load()->estimatedContext(), 65'536);
    QCOMPARE(session.load()->longestContext(), 262'144);
    QCOMPARE(session.load()->needText(), u"1.0 GiB for the model, 1.0 GiB for the context"_s);
    QVERIFY(session.load()->freeText().startsWith(u"6.0 GiB"_s));
    QCOMPARE(session.load()->weightShare(), 1.0 / 6);
    QCOMPARE(session.load()->stateShare(), 1.0 / 6);
    QCOMPARE(session.load()->reserveShare(), 2.0 / 6);
    QVERIFY(session.load()->isChanged());
    // Dragging: the last one counts, whatever is under way.
    for (int tokens = 1024; tokens <= 131'072; tokens *= 2)
        session.load()->setContextTokens(tokens);
    QTRY_COMPARE(session.load()->estimatedContext(), 131'072);
    QCOMPARE(session.load()->needText(), u"1.0 GiB for the model, 2.0 GiB for the context"_s);
}

void LoadSettingsTest::refusesWithBothNumbers()
{
    Session session;
    QVERIFY(session.waitReady());
    session.load()->setContextTokens(200'000);
    session.load()->setReserveGibibytes(2.5);
    QTRY_COMPARE(session.load()->refusal(),
                 u"A context of 200,000 tokens needs 4.1 GiB; 3.5 GiB are free beside the reserve "
                 "of 2.5 GiB."_s);
    QVERIFY(!session.load()->canApply());
    session.load()->applyNow();
    session.load()->applyAtNextStart();
    QVERIFY(session.load()->isChanged()); // neither did anything
    QCOMPARE(session.engine()->state(), EngineController::State::Ready);
    session.load()->setReserveGibibytes(0.5);
    QTRY_VERIFY(session.load()->canApply());
}

void LoadSettingsTest::refusesMoreThanTheModelAllows()
{
    Session session;
    QVERIFY(session.waitReady());
    session.load()->setContextTokens(300'000);
    QTRY_VERIFY(session.load()->refusal().contains(u"262144"_s));
    QVERIFY(!session.load()->canApply());
}

void LoadSettingsTest::reloadsAndKeepsTheChat()
{
    Session session;
    QVERIFY(session.waitReady());
    auto *chat = session.application->conversation();
    chat->send(u"hello"_s);
    QTRY_VERIFY(!chat->isBusy());
    const int rows = chat->blocks()->rowCount();
    session.load()->setContextTokens(4096);
    session.load()->setThreads(3);
    session.load()->setSequences(2);
    session.load()->setReserveGibibytes(1.25);
    QTRY_VERIFY(session.load()->canApply());
    session.load()->applyNow();
    QTRY_COMPARE(session.engine()->contextTokens(), 4096);
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Ready);
    QCOMPARE(session.fake->lastLoad().threads, 3);
    QCOMPARE(session.fake->lastLoad().sequences, 2);
    QCOMPARE(session.load()->estimatedSequences(), 2);
    QCOMPARE(session.fake->lastLoad().memoryReserveBytes, 5 * kGibibyte / 4);
    QCOMPARE(session.fake->lastLoad().modelDirectory, std::filesystem::path("/models/glimmer"));
    QVERIFY(!session.load()->isChanged());
    QVERIFY(!session.load()->isWaiting());
    QCOMPARE(session.application->conversation(), chat);
    QCOMPARE(chat->blocks()->rowCount(), rows);
    QCOMPARE(chat->contextTokens(), 4096); // what the window shows
    chat->send(u"again"_s);
    QTRY_VERIFY(!chat->isBusy());
    QCOMPARE(session.fake->lastMessages().size(), 3U);
    // The setting has its effect: what does not fit any more is refused, and said so.
    chat->send(QString(20'000, u'z'));
    QTRY_VERIFY(!chat->isBusy());
    QCOMPARE(chat->blocks()
                 ->index(chat->blocks()->rowCount() - 1)
                 .data(app::MessageBlockModel::ErrorActionRole)
                 .toString(),
             u"newConversation"_s);
}

void LoadSettingsTest::waitsForTheNextStart()
{
    Session session;
    QVERIFY(session.waitReady());
    session.load()->setContextTokens(8192);
    QTRY_VERIFY(session.load()->canApply());
    session.load()->applyAtNextStart();
    QVERIFY(!session.load()->isChanged());
    QVERIFY(session.load()->isWaiting());
    QCOMPARE(session.engine()->contextTokens(), 196'608);
    session.start();
    QVERIFY(session.waitReady());
    QCOMPARE(session.engine()->contextTokens(), 8192);
    QVERIFY(!session.load()->isWaiting());
}

void LoadSettingsTest::discards()
{
    Session session;
    QVERIFY(session.waitReady());
    session.load()->setContextTokens(8192);
    session.load()->setThreads(7);
    session.load()->discard();
    QVERIFY(!session.load()->isChanged());
    QCOMPARE(session.load()->contextTokens(), 0);
    QCOMPARE(session.load()->threads(), 0);
}

void LoadSettingsTest::readsFields()
{
    Session session;
    QVERIFY(session.load()->setContextText(u" 4096 "_s));
    QCOMPARE(session.load()->contextTokens(), 4096);
    QVERIFY(!session.load()->setContextText(u"lots"_s));
    QVERIFY(!session.load()->setContextText(u"nan"_s));
    QCOMPARE(session.load()->contextTokens(), 4096);
    QVERIFY(session.load()->setContextText(u"3"_s)); // too little for a chat
    QCOMPARE(session.load()->contextTokens(), LoadSettings::kLeastContext);
    QVERIFY(session.load()->setContextText(u"-5"_s));
    QCOMPARE(session.load()->contextTokens(), 0);
    QVERIFY(session.load()->setContextText(u"1e300"_s));
    QCOMPARE(session.load()->contextTokens(), 1'000'000'000);
    QVERIFY(session.load()->setReserveText(u"1.5"_s));
    QCOMPARE(session.load()->reserveGibibytes(), 1.5);
    QVERIFY(session.load()->setReserveText(u"0"_s));
    QCOMPARE(session.load()->reserveGibibytes(), 0.25); // none at all could stop the machine
    QVERIFY(session.load()->setThreadsText(u"99999"_s));
    QCOMPARE(session.load()->threads(), 1024);
    QVERIFY(!session.load()->setThreadsText({}));
    QVERIFY(session.load()->setSequencesText(u"99"_s));
    QCOMPARE(session.load()->sequences(), 8);
    QVERIFY(!session.load()->setSequencesText(u"many"_s));
}

void LoadSettingsTest::aFileThatWasEditedIsMended()
{
    Session session;
    session.application.reset();
    QFile file(session.folder.filePath(u"settings.ini"_s));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "[load]\ncontextTokens=lots\nmemoryReserveMiB=-7\nthreads=1e9\nsequences=12\n[model]\n"
        "modelsFolder=somewhere\n");
    file.close();
    session.start();
    QCOMPARE(session.load()->contextTokens(), 0);
    QCOMPARE(session.load()->reserveGibibytes(), 0.25);
    QCOMPARE(session.load()->threads(), 1024);
    QCOMPARE(session.load()->sequences(), 8);
    const QString notice = session.application->settings()->notice();
    for (const auto &key : { u"load/contextTokens"_s, u"load/memoryReserveMiB"_s, u"load/threads"_s,
                             u"load/sequences"_s, u"model/modelsFolder"_s })
        QVERIFY2(notice.contains(key), qPrintable(notice));
    QVERIFY(session.application->settings()->modelsFolder().isEmpty());
    QVERIFY(session.waitReady());
    session.application->settings()->dismissNotice();
    QVERIFY(session.application->settings()->notice().isEmpty());
}

void LoadSettingsTest::withoutAModelThereAreNoFigures()
{
    Session session;
    session.hasModel = false;
    session.application->start();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::NoModel);
    session.load()->setContextTokens(4096);
    QTRY_VERIFY(session.load()->canApply());
    QVERIFY(session.load()->needText().isEmpty());
    QCOMPARE(session.load()->estimatedContext(), 0);
    QVERIFY(!session.load()->isWaiting());
    session.load()->applyAtNextStart();
    session.hasModel = true;
    session.start();
    QVERIFY(session.waitReady());
    QCOMPARE(session.engine()->contextTokens(), 4096);
}

void LoadSettingsTest::restoresDefaults()
{
    Session session;
    QVERIFY(session.waitReady());
    auto *chat = session.application->conversation();
    chat->send(u"hello"_s);
    QTRY_VERIFY(!chat->isBusy());
    session.application->presets()->create();
    session.application->presets()->makeDefault(1);
    session.load()->setContextTokens(8192);
    QTRY_VERIFY(session.load()->canApply());
    session.load()->applyNow();
    app::AppSettings &settings = *session.application->settings();
    settings.setModelFolder(u"/models/mine"_s);
    settings.setModelsFolder(u"/big/disk"_s);
    settings.setFontScale(1.5);
    settings.setAppearance(app::AppSettings::Appearance::Dark);
    settings.setRenderer(app::AppSettings::Renderer::Software);
    QVERIFY(settings.isRendererWaiting());
    QSignalSpy scaled(&settings, &app::AppSettings::fontScaleChanged);

    session.application->restoreDefaults();
    QCOMPARE(scaled.size(), 1);
    QCOMPARE(settings.fontScale(), 1.0);
    QCOMPARE(settings.appearance(), app::AppSettings::Appearance::System);
    QVERIFY(!settings.isRendererWaiting());
    QCOMPARE(session.load()->contextTokens(), 0);
    QCOMPARE(session.application->presets()->defaultId(), app::PresetLibrary::kStandard);
    // Chats, presets and models stay.
    QCOMPARE(session.application->presets()->rowCount(), 2);
    QCOMPARE(session.application->conversations()->rowCount(), 1);
    QCOMPARE(settings.modelFolder(), u"/models/mine"_s);
    QCOMPARE(settings.modelsFolder(), u"/big/disk"_s);
}

void LoadSettingsTest::thePanelMarksTheReserve()
{
    Session session;
    QVERIFY(session.waitReady());
    QObject view;
    const app::PerformanceMonitor &monitor = *session.application->monitor();
    session.application->monitor()->setWatched(&view, true);
    QTRY_COMPARE(monitor.memory().reserve, 2.0 * kGibibyte);
    session.load()->setReserveGibibytes(3);
    QTRY_VERIFY(session.load()->canApply());
    session.load()->applyAtNextStart();
    QTRY_COMPARE(monitor.memory().reserve, 3.0 * kGibibyte);
    session.application->restoreDefaults();
    QTRY_COMPARE(monitor.memory().reserve, 2.0 * kGibibyte);
}

void LoadSettingsTest::endsWhileEstimating()
{
    for (int round = 0; round < 5; ++round) {
        Session session;
        QVERIFY(session.waitReady());
        for (int tokens = 1000; tokens < 1010; ++tokens)
            session.load()->setContextTokens(tokens);
        session.application.reset();
    }
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::LoadSettingsTest)
#include "tst_load_settings.moc"
