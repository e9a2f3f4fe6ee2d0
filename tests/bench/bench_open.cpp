// SPDX-License-Identifier: MIT
//
// A long conversation that is opened and read to its top: the real window on stored messages. From
// the click to the first frame with the conversation in it, then the GUI thread's work a frame
// while it scrolls up page by page, and while it jumps from the end to the top. Prints JSON.
//
//   bench_open [--tokens 100000] [--output FILE] [--commit ID]
#include "app/application.h"
#include "qml/window.h"
#include "tests/bench/frame_meter.h"
#include "tests/support/fake_engine.h"

#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QFile>
#include <QGuiApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QKeyEvent>
#include <QQmlApplicationEngine>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTemporaryDir>
#include <QThread>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

using namespace firesteel;
using namespace firesteel::bench;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kTurnTokens = 2000;
constexpr int kPatienceMilliseconds = 120'000;
constexpr int kSettleMilliseconds = 1500;
constexpr int kMostPages = 20'000;

[[noreturn]] void giveUp(const char *what)
{
    std::fprintf(stderr, "bench_open: %s\n", what);
    std::exit(EXIT_FAILURE);
}

void waitFor(const std::function<bool()> &reached, const char *what)
{
    QElapsedTimer clock;
    clock.start();
    while (!reached()) {
        if (clock.elapsed() > kPatienceMilliseconds)
            giveUp(what);
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    }
}

void settle()
{
    QElapsedTimer clock;
    clock.start();
    waitFor([&clock] { return clock.elapsed() > kSettleMilliseconds; }, "time stands still");
}

// One conversation of questions and answers of 2,000 tokens.
void fill(const QString &file, int tokens)
{
    app::DatabaseThread database(file);
    const auto done = database.write([tokens](const QSqlDatabase &sql) -> app::StoreResult<void> {
        app::ConversationRecord record;
        const qint64 now = app::currentMilliseconds();
        record.summary = { app::newRecordId(), u"Hash maps"_s, now, now };
        auto stored = app::insertConversation(sql, record);
        std::optional<app::RecordId> parent;
        for (int turn = 0; stored && turn * kTurnTokens < tokens; ++turn) {
            for (const bool isAnswer : { false, true }) {
                app::MessageRecord message;
                message.id = app::newRecordId();
                message.conversation = record.summary.id;
                message.parent = parent;
                message.created = now;
                if (isAnswer) {
                    message.role = engine::Role::Assistant;
                    message.text = answerText(kTurnTokens, turn + 1);
                    message.tokens.emplace(static_cast<std::size_t>(kTurnTokens), 1234);
                    message.end = app::ReplyEnd::Stop;
                } else {
                    message.text = "Tell me more about part " + std::to_string(turn)
                        + " of hash maps, with code.";
                }
                parent = message.id;
                stored = stored ? app::insertMessage(sql, message) : stored;
            }
        }
        return stored;
    });
    waitFor([&done] { return done.isFinished(); }, "the database does not answer");
    if (!done.result())
        giveUp("the database refuses");
}

QJsonObject frameTimes(const std::vector<Frame> &frames)
{
    return { { u"frames"_s, static_cast<qint64>(frames.size()) },
             { u"busy_cpu_ms"_s, summaryOf(frames, &Frame::busy) },
             { u"busy_wall_ms"_s, summaryOf(frames, &Frame::wall) },
             { u"paint_cpu_ms"_s, summaryOf(frames, &Frame::paint) } };
}

class Reader
{
public:
    Reader(QQuickWindow &window, app::Application &application)
        : m_window(window)
        , m_application(application)
        , m_meter(window)
        , m_list(window.findChild<QQuickItem *>(u"messageList"_s))
    {
        if (m_list == nullptr)
            giveUp("the window has no list of messages");
        QObject::connect(&window, &QQuickWindow::frameSwapped, m_list, [this] { ++m_frames; });
    }

    QJsonObject open()
    {
        m_meter.reset();
        QElapsedTimer clock;
        clock.start();
        m_application.openConversation(0);
        const double called = milliseconds(clock);
        waitFor([this] { return !m_application.conversation()->isLoading(); }, "it does not load");
        const double loaded = milliseconds(clock);
        nextFrame();
        const double shown = milliseconds(clock);
        settle();
        if (m_list->property("atYEnd").toBool() == false)
            giveUp("it does not open at its end");
        QJsonObject result = frameTimes(m_meter.frames());
        result[u"call_wall_ms"_s] = called;
        result[u"loaded_wall_ms"_s] = loaded;
        result[u"first_frame_wall_ms"_s] = shown;
        return result;
    }

    QJsonObject scrollUp(int key)
    {
        m_list->forceActiveFocus();
        m_meter.reset();
        QElapsedTimer clock;
        clock.start();
        int presses = 0;
        while (!m_list->property("atYBeginning").toBool() && presses < kMostPages) {
            press(key);
            ++presses;
            nextFrame();
        }
        const double top = milliseconds(clock);
        settle();
        if (!m_list->property("atYBeginning").toBool())
            giveUp("the top is not reached");
        QJsonObject result = frameTimes(m_meter.frames());
        result[u"presses"_s] = presses;
        result[u"top_wall_ms"_s] = top;
        return result;
    }

    void goToEnd()
    {
        press(Qt::Key_End);
        settle();
    }

private:
    static double milliseconds(const QElapsedTimer &clock)
    {
        return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
    }

    void nextFrame()
    {
        const int before = m_frames;
        m_window.requestUpdate();
        waitFor([this, before] { return m_frames > before; }, "no frame comes");
    }

    void press(int key)
    {
        QKeyEvent down(QEvent::KeyPress, key, Qt::NoModifier);
        QCoreApplication::sendEvent(&m_window, &down);
        QKeyEvent up(QEvent::KeyRelease, key, Qt::NoModifier);
        QCoreApplication::sendEvent(&m_window, &up);
    }

    QQuickWindow &m_window;
    app::Application &m_application;
    FrameMeter m_meter;
    QQuickItem *m_list;
    int m_frames = 0;
};

QJsonObject measure(int tokens)
{
    const QTemporaryDir folder;
    app::ApplicationSetup setup;
    setup.settingsFile = folder.filePath(u"settings.ini"_s);
    setup.databaseFile = folder.filePath(u"firesteel.db"_s);
    setup.engine.findModel = [] { return app::ModelLocation { "/models/scripted", {} }; };
    setup.models.downloads.hub.endpoint = QUrl(u"http://127.0.0.1:9"_s); // nobody answers
    fill(setup.databaseFile, tokens);
    app::Application application(std::make_unique<test::FakeEngine>(), std::move(setup));
    application.settings()->setReducedMotion(true);
    QQmlApplicationEngine qml;
    QQuickWindow *window = app::openWindow(qml, application);
    if (window == nullptr)
        giveUp("the window cannot be opened");
    application.start();
    waitFor([&] { return application.conversations()->rowCount() == 1; }, "nothing is listed");
    settle();
    const double empty = residentMebibytes();
    Reader reader(*window, application);
    QJsonObject result { { u"what"_s, u"a long conversation opened, then read to its top"_s },
                         { u"tokens"_s, tokens } };
    result[u"open"_s] = reader.open();
    const double opened = residentMebibytes();
    result[u"messages"_s]
        = static_cast<qint64>(application.conversation()->blocks()->messages().size());
    result[u"rows"_s] = application.conversation()->blocks()->rowCount();
    result[u"page_up_to_top"_s] = reader.scrollUp(Qt::Key_PageUp);
    result[u"resident_mib_empty"_s] = empty;
    result[u"resident_mib_opened"_s] = opened;
    result[u"resident_mib_at_top"_s] = residentMebibytes();
    reader.goToEnd();
    result[u"home_to_top"_s] = reader.scrollUp(Qt::Key_Home);
    result[u"resident_mib_after"_s] = residentMebibytes();
    result[u"qt"_s] = QString::fromLatin1(qVersion());
    result[u"cores"_s] = QThread::idealThreadCount();
    result[u"platform"_s] = QGuiApplication::platformName();
    result[u"scene_graph"_s] = QQuickWindow::sceneGraphBackend();
    return result;
}

} // namespace

int main(int argc, char *argv[])
{
    app::setUpProcess();
    QGuiApplication qt(argc, argv);
    QCommandLineParser parser;
    const QCommandLineOption tokens(u"tokens"_s, u"Size of the conversation."_s, u"count"_s,
                                    u"100000"_s);
    const QCommandLineOption output(
        u"output"_s, u"Where the JSON goes; standard output without it."_s, u"file"_s);
    const QCommandLineOption commit(u"commit"_s, u"What was measured, for the record."_s, u"id"_s);
    parser.addOptions({ tokens, output, commit });
    parser.addHelpOption();
    parser.process(qt);
    app::setUpLook();
    QGuiApplication::setQuitOnLastWindowClosed(false);

    QJsonObject result = measure(parser.value(tokens).toInt());
    result[u"commit"_s] = parser.value(commit);
    const QByteArray json = QJsonDocument(result).toJson();
    QFile file(parser.value(output));
    const bool isOpen = parser.isSet(output) ? file.open(QIODevice::WriteOnly)
                                             : file.open(stdout, QIODevice::WriteOnly);
    if (!isOpen || file.write(json) != json.size())
        giveUp("the result cannot be written");
    return EXIT_SUCCESS;
}
