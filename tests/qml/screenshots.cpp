// SPDX-License-Identifier: MIT
//
// firesteel-screenshots: takes pictures of the window in the states a person meets, light and dark,
// wide and narrow. It fails when a state is not reached; whether it looks right is for eyes. With
// --model it asks the real engine.
#include "app/application.h"
#include "app/store/file_lock.h"
#include "engine/api/engine.h"
#include "qml/window.h"
#include "tests/app/monitor/fake_nvml.h"
#include "tests/app/setup/machine_files.h"
#include "tests/qml/pseudo_translator.h"
#include "tests/qml/sample_endpoint.h"
#include "tests/qml/sample_models.h"
#include "tests/qml/screenshot_scenes.h"
#include "tests/support/fake_engine.h"
#include "tests/support/offline_script.h"

#include <QCommandLineParser>
#include <QDir>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QJsonArray>
#include <QQmlApplicationEngine>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTcpServer>
#include <QTemporaryDir>

#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <functional>
#include <optional>

using namespace firesteel;
using test::Scene;
using namespace Qt::Literals::StringLiterals;

namespace {

bool waitFor(const std::function<bool()> &reached, int milliseconds)
{
    QElapsedTimer timer;
    timer.start();
    while (!reached() && timer.elapsed() < milliseconds)
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    return reached();
}

void settle(int milliseconds)
{
    waitFor([] { return false; }, milliseconds);
}

// Delegates are children of items only, so findChild() does not see them. The newest: those before
// it may wait to be used again.
QQuickItem *visibleItem(QQuickItem *root, const QString &name)
{
    if (!root->isVisible())
        return nullptr;
    if (root->objectName() == name)
        return root;
    const QList<QQuickItem *> children = root->childItems();
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
        if (QQuickItem *found = visibleItem(*child, name))
            return found;
    }
    return nullptr;
}

// A few chats of the last weeks.
void storeChats(const QString &file)
{
    struct Chat
    {
        QString title;
        std::string question;
        int daysAgo = 0;
    };
    const std::vector<Chat> chats {
        { u"Trip to Kyoto"_s, "Where do the maples turn red first in Kyoto? Which map helps?", 0 },
        { u"京都の地図"_s, "京都の紅葉の名所を教えてください。map もあれば。", 0 },
        { u"Ownership of a moved-from unique_ptr in a std::map"_s,
          "What does a std::map do with a moved-from unique_ptr as its mapped value?", 1 },
        { u"Bread"_s, "Why does my sourdough stay flat? A map of causes, please.", 9 },
    };
    app::DatabaseThread database(file);
    database.write([&chats](const QSqlDatabase &sql) -> app::StoreResult<void> {
        constexpr qint64 kDay = 86'400'000;
        for (const Chat &chat : chats) {
            app::ConversationRecord record;
            const qint64 time = app::currentMilliseconds() - chat.daysAgo * kDay;
            record.summary = { app::newRecordId(), chat.title, time, time };
            app::MessageRecord message;
            message.id = app::newRecordId();
            message.conversation = record.summary.id;
            message.created = time;
            message.text = chat.question;
            auto done = app::insertConversation(sql, record);
            if (done)
                done = app::insertMessage(sql, message);
            if (!done)
                return done;
        }
        return {};
    });
}

// A preset of one's own, being edited.
void storePresets(app::PresetLibrary &presets)
{
    app::RequestSettings settings;
    settings.set(app::RequestParameter::SystemPrompt,
                 u"You review C++ code. Name the line, say what is wrong, and suggest the fix."_s);
    settings.set(app::RequestParameter::Temperature, 0.2);
    settings.set(app::RequestParameter::Stop, QJsonArray { u"\n\n\n"_s, u"END"_s });
    presets.add(u"Translation"_s, {});
    presets.add(u"Code review"_s, settings);
    presets.makeDefault(2);
}

// What a drafter did in the last minute.
void inventDrafting(test::FakeEngine &engine)
{
    constexpr int kSteps = 400;
    constexpr int kGuesses = 7;
    engine::DraftCounts counts;
    for (int step = 0; step < kSteps; ++step)
        counts.addStep(kGuesses, step * 37 % 100 < 30 ? kGuesses : step * 53 % kGuesses);
    counts.draftSeconds = 0.0041 * kSteps;
    counts.verifySeconds = 0.0612 * kSteps;
    engine.draft(counts, kGuesses);
}

// A machine like a DGX Spark: /proc in a folder, the fake driver's GB10.
app::MachineSources sparkMachine(const QDir &folder)
{
    const auto write = [&folder](const QString &name, const QByteArray &text) {
        folder.mkpath(u"self"_s);
        QFile file(folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("%s cannot be written", qPrintable(name));
    };
    write(u"meminfo"_s, "MemTotal: 127617024 kB\nMemAvailable: 22100000 kB\n");
    write(u"self/status"_s, "RssAnon: 1400000 kB\nRssFile: 300000 kB\nRssShmem: 0 kB\n");
    return { folder.path(), QStringLiteral(FIRESTEEL_FAKE_NVML) };
}

test::FakeNvml &fakeDriver()
{
    void *library = dlopen(FIRESTEEL_FAKE_NVML, RTLD_NOW); // stays open
    if (library == nullptr)
        qFatal("%s", dlerror());
    return *reinterpret_cast<test::FakeNvml *(*)()>(dlsym(library, "fakeNvml"))();
}

// The two minutes before the picture.
void inventHistory(app::PerformanceMonitor &monitor)
{
    constexpr int kSeconds = 118;
    for (int i = 0; i < kSeconds; ++i) {
        const qint64 time = (i - kSeconds) * 1000;
        const double wave = std::sin(i / 7.0);
        const bool isWriting = (i > 15 && i < 50) || i > 70;
        monitor.decodeSpeed()->add({ time, isWriting ? 41 + 6 * wave : 0 });
        monitor.prefillSpeed()->add({ time, i > 62 && i <= 70 ? 820 + 20 * wave : 0 });
        monitor.gpuMetrics().at(1)->add({ time, isWriting ? 60 + wave : 11 });
    }
}

class Studio
{
public:
    Studio(QDir output, QString model)
        : m_output(std::move(output))
        , m_model(std::move(model))
    {
    }

    bool take(const Scene &scene);

private:
    bool reach(app::Application &application, test::FakeEngine *fake, const Scene &scene) const;

    QDir m_output;
    QString m_model;
};

bool Studio::reach(app::Application &application, test::FakeEngine *fake, const Scene &scene) const
{
    application.start();
    if (!waitFor([&] { return application.engine()->state() == scene.state; }, 60'000))
        return false;
    if (scene.isPanelOpen && fake != nullptr)
        inventDrafting(*fake);
    if (scene.question.isEmpty())
        return true;
    if (fake != nullptr && scene.tokensBeforePicture >= 0) {
        fake->holdTokens();
        fake->allowTokens(scene.tokensBeforePicture);
    }
    app::ConversationController &conversation = *application.conversation();
    for (const QString &question : scene.question.split(u'|')) {
        if (!waitFor([&] { return conversation.canSend(); }, 180'000))
            return false;
        conversation.send(question);
    }
    if (scene.isReading)
        return waitFor([&] { return application.monitor()->prefillFraction() > 0.2; }, 20'000);
    if (fake != nullptr && scene.tokensBeforePicture >= 0)
        return waitFor([&] { return fake->emittedTokens() >= scene.tokensBeforePicture; }, 10'000);
    const auto isAnswered
        = [&] { return waitFor([&] { return !conversation.isBusy(); }, 180'000); };
    if (!isAnswered())
        return false;
    if (scene.hasVersions) {
        conversation.beginEdit(0);
        conversation.send(scene.question + u" Keep it short."_s);
        if (!isAnswered())
            return false;
        conversation.regenerate();
        if (!isAnswered())
            return false;
    }
    if (scene.isEditing)
        conversation.beginEdit(0);
    return true;
}

bool Studio::take(const Scene &scene)
{
    using State = app::EngineController::State;
    QTemporaryDir folder;
    app::ApplicationSetup setup;
    setup.settingsFile = folder.filePath(u"firesteel.ini"_s);
    setup.databaseFile = folder.filePath(u"firesteel.db"_s);
    std::unique_ptr<engine::Engine> engine;
    test::FakeEngine *fake = nullptr;
    const bool isReal = !m_model.isEmpty() && scene.state == State::Ready;
    if (isReal) {
        engine = engine::createEngine({});
    } else {
        test::FakeScript script = test::offlineScript(scene.tokensBeforePicture < 0 ? 2000 : 0);
        if (scene.settings < 0) { // a Spark with the large model
            script.weightBytes = 85ULL << 30;
            script.bytesPerToken = 32 << 10;
            script.availableBytes = 118ULL << 30;
        }
        if (scene.isReading)
            script.prefillTime = std::chrono::seconds(12);
        if (scene.state == State::Loading)
            script.loadStageTime = std::chrono::seconds(3);
        if (scene.state == State::Failed)
            script.loadError = engine::Error {
                engine::ErrorCode::BadCheckpoint,
                "model-00003-of-00005.safetensors: ends after 1,204 of 4,096 bytes"
            };
        auto scripted = std::make_unique<test::FakeEngine>(std::move(script));
        fake = scripted.get();
        engine = std::move(scripted);
    }
    test::writeMachine(folder.filePath(u"proc"_s), scene.machine);
    setup.procFolder = folder.filePath(u"proc"_s);
    setup.models.downloads.hub.endpoint = QUrl(u"http://127.0.0.1:9"_s); // nobody answers
    setup.machine = sparkMachine(QDir(folder.filePath(u"proc"_s)));
    setup.isAfterCrash = scene.isAfterCrash;
    fakeDriver() = {};
    fakeDriver().ownBytes = 94ULL << 30;
    if (scene.isClamped) {
        fakeDriver().megahertz = 721;
        fakeDriver().milliwatts = 13'000;
    }
    setup.engine.findModel = [&] {
        if (scene.state == State::NoModel)
            return app::ModelLocation { {}, { u"the variable FIRESTEEL_MODEL"_s } };
        return app::ModelLocation { isReal ? m_model.toStdString() : "/", {} };
    };
    if (!scene.searched.isEmpty())
        storeChats(setup.databaseFile);
    app::FileLock otherInstance;
    if (scene.isSecondInstance && !otherInstance.acquire(setup.databaseFile + u".lock"_s))
        return false;
    app::Application application(std::move(engine), std::move(setup));
    app::AppSettings &settings = *application.settings();
    settings.setAppearance(scene.appearance);
    settings.setFontScale(scene.fontScale);
    settings.setPanelFolded(!scene.isPanelOpen);
    settings.setReducedMotion(true);
    settings.setSetupState(scene.step ? app::AppSettings::SetupState::Left
                                      : app::AppSettings::SetupState::Finished);
    settings.setWindowGeometry(QRect(QPoint(0, 0), scene.size));
    application.conversation()->setThinkingEffort(app::ConversationController::High);

    if (scene.isPanelOpen)
        inventHistory(*application.monitor());
    QQmlApplicationEngine qml;
    QQuickWindow *window = app::openWindow(qml, application);
    if (window == nullptr)
        return false;
    window->resize(scene.size);
    if (!reach(application, fake, scene))
        return false;
    if (!scene.searched.isEmpty()) {
        window->setProperty("searchShown", true);
        application.search()->setQuery(scene.searched);
        if (!waitFor([&] { return application.search()->rowCount() > 0; }, 10'000))
            return false;
        application.exportConversations(
            {}, QUrl::fromLocalFile(folder.filePath(u"Firesteel chats.json"_s)));
        if (!waitFor([&] { return !application.isExchanging(); }, 10'000))
            return false;
        application.deleteConversation(2);
    }
    if (scene.isReasoningOpen)
        application.conversation()->blocks()->setExpanded(1, true);
    if (!scene.pressed.isEmpty()) {
        settle(200); // a window that is not shown yet opens no menu
        auto *button = window->findChild<QObject *>(scene.pressed);
        if (button == nullptr || !QMetaObject::invokeMethod(button, "click"))
            return false;
    }
    if (scene.isReread)
        application.conversation()->setThinkingEffort(app::ConversationController::Max);
    if (scene.isServing) {
        app::EndpointController &endpoint = *application.endpoint();
        QTcpServer free;
        if (!free.listen(QHostAddress::LocalHost))
            return false;
        endpoint.setPortText(QString::number(free.serverPort()));
        free.close();
        test::fillEndpoint(endpoint); // one of its requests runs
        endpoint.setEnabled(true);
        if (!waitFor([&] { return endpoint.isRunning() && endpoint.log()->running() > 0; }, 10'000))
            return false;
    }
    if (!scene.focused.isEmpty()) {
        settle(200);
        QQuickItem *item = visibleItem(window->contentItem(), scene.focused);
        if (item == nullptr)
            return false;
        item->forceActiveFocus(Qt::TabFocusReason);
    }
    if (!scene.models.isEmpty()) {
        QMetaObject::invokeMethod(window, "showPage", Q_ARG(QString, u"models"_s));
        test::showModels(*application.models(), scene.models);
    }
    if (scene.isMeasured) {
        QMetaObject::invokeMethod(window, "showPage", Q_ARG(QString, u"benchmark"_s));
        app::BenchmarkController &benchmark = *application.benchmark();
        if (!waitFor([&] { return benchmark.isAvailable(); }, 10'000))
            return false;
        benchmark.start();
        if (!waitFor([&] { return !benchmark.isRunning(); }, 180'000))
            return false;
    }
    if (scene.step) {
        QMetaObject::invokeMethod(window, "showPage", Q_ARG(QString, u"setup"_s));
        application.setup()->show(*scene.step);
        if (!waitFor([&] { return !application.setup()->checks().isEmpty(); }, 10'000))
            return false;
    }
    if (scene.settings >= 0) {
        storePresets(*application.presets());
        if (scene.isContextTooLong) {
            application.loadSettings()->setContextTokens(4096);
            application.loadSettings()->setReserveGibibytes(7);
        }
        window->setProperty("settingsSection", scene.settings);
        QMetaObject::invokeMethod(window, "showPage", Q_ARG(QString, u"settings"_s));
        settle(200);
        auto *page = window->findChild<QQuickItem *>(u"settingsFlickable"_s);
        if (page == nullptr)
            return false;
        page->setProperty("contentY", scene.scrolled * page->height());
    }
    if (!scene.found.isEmpty()) {
        application.conversation()->find()->setShown(true);
        application.conversation()->find()->find(scene.found, 0);
        application.conversation()->find()->next();
    }
    if (scene.hasPastes) {
        const QString line = u"2026-11-30T08:00:00Z INFO engine.load: weights are there\n"_s;
        application.conversation()->pastes()->add(line.repeated(2400));
        application.conversation()->pastes()->add(line.repeated(312));
        visibleItem(window->contentItem(), u"composerInput"_s)
            ->setProperty("text", u"Which of the two runs loaded faster?"_s);
    }
    if (scene.hasLateDrafter) {
        test::showModels(*application.models(), { u"ready"_s, u"ready"_s });
        if (!waitFor([&] { return application.engine()->isDrafterOffered(); }, 10'000))
            return false;
    }
    if (scene.reviewed >= 0) {
        application.models()->review(scene.reviewed);
        test::answerTerms(*application.models(), scene.reviewed);
    }
    if (scene.page == u"palette"_s) {
        settle(200);
        auto *palette = window->findChild<QObject *>(u"actionPalette"_s);
        if (palette == nullptr || !QMetaObject::invokeMethod(palette, "open"))
            return false;
    } else if (!scene.page.isEmpty()) {
        if (scene.page == u"endpoint"_s)
            test::fillEndpoint(*application.endpoint());
        QMetaObject::invokeMethod(window, "showPage", Q_ARG(QString, scene.page));
    }
    settle(scene.isClamped ? 11'500 : scene.isPanelOpen ? 2500 : 400);
    return window->grabWindow().save(m_output.filePath(scene.name + u".png"_s));
}

} // namespace

int main(int argc, char *argv[])
{
    app::setUpProcess();
    QCommandLineParser parser;
    const QCommandLineOption output(u"output"_s, u"Where the pictures go."_s, u"folder"_s,
                                    u"screenshots"_s);
    const QCommandLineOption model(u"model"_s, u"Ask this model instead of the script."_s,
                                   u"folder"_s);
    const QCommandLineOption only(u"only"_s, u"Name of one picture."_s, u"name"_s);
    const QCommandLineOption ask(u"ask"_s, u"Other questions, separated by |."_s, u"text"_s);
    const QCommandLineOption pseudo(u"pseudo"_s, u"In a language that is none, with long words."_s);
    const QCommandLineOption scale(u"scale"_s, u"Pixels of the picture for one of the window."_s,
                                   u"factor"_s);
    const QCommandLineOption renderer(
        u"renderer"_s, u"hardware (OpenGL, needs a display) or software."_s, u"name"_s);
    parser.addOptions({ output, model, only, ask, pseudo, scale, renderer });
    parser.addHelpOption();
    // These two count before there is an application.
    parser.parse(QStringList(argv, argv + argc));
    if (parser.isSet(scale))
        qputenv("QT_SCALE_FACTOR", parser.value(scale).toLatin1());
    if (parser.isSet(renderer)) {
        const QString name = parser.value(renderer);
        if (name != u"hardware"_s && name != u"software"_s) {
            std::fprintf(stderr, "--renderer: \"%s\" is none of hardware, software\n",
                         qPrintable(name));
            return EXIT_FAILURE;
        }
        qunsetenv("QT_QUICK_BACKEND");
        QQuickWindow::setGraphicsApi(name == u"hardware"_s ? QSGRendererInterface::OpenGL
                                                           : QSGRendererInterface::Software);
    }
    QGuiApplication qt(argc, argv);
    parser.process(qt);
    app::setUpLook();
    test::PseudoTranslator translator;
    if (parser.isSet(pseudo))
        QCoreApplication::installTranslator(&translator);
    QGuiApplication::setQuitOnLastWindowClosed(false);

    const QDir folder(parser.value(output));
    if (!folder.mkpath(u"."_s)) {
        std::fprintf(stderr, "%s: cannot be made\n", qPrintable(folder.path()));
        return EXIT_FAILURE;
    }
    Studio studio(folder, parser.value(model));
    bool complete = true;
    for (Scene scene : test::scenes()) {
        if (parser.isSet(only) && parser.value(only) != scene.name)
            continue;
        if (parser.isSet(ask) && !scene.question.isEmpty())
            scene.question = parser.value(ask);
        if (studio.take(scene))
            continue;
        std::fprintf(stderr, "%s: the state was not reached\n", qPrintable(scene.name));
        complete = false;
    }
    return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
