// SPDX-License-Identifier: MIT
//
// What a fast model costs the GUI thread: the real window on a scripted engine. A conversation is
// filled to a given size, then one more answer streams into it at a given rate while every frame's
// work on the GUI thread is measured: events, polish and sync; painting is counted apart, because
// on a machine with a GPU another thread does it. Prints JSON.
//
//   bench_gui [--tokens 100000] [--rate 400] [--seconds 30] [--output FILE] [--commit ID]
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
#include <QQmlApplicationEngine>
#include <QQuickWindow>
#include <QTemporaryDir>
#include <QThread>
#include <QTimer>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace firesteel;
using namespace firesteel::bench;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kTurnTokens = 2000;
constexpr double kTarget = 8.0; // ms a frame

class Benchmark : public QObject
{
public:
    Benchmark(int tokens, double rate, double seconds)
        : m_tokens(tokens)
        , m_rate(rate)
        , m_seconds(seconds)
        , m_fake(std::make_unique<test::FakeEngine>(script(0, kTurnTokens)))
        , m_engine(*m_fake)
    {
        app::ApplicationSetup setup;
        setup.settingsFile = m_folder.filePath(u"settings.ini"_s);
        setup.databaseFile = m_folder.filePath(u"firesteel.db"_s);
        setup.engine.findModel = [] { return app::ModelLocation { "/models/scripted", {} }; };
        m_application = std::make_unique<app::Application>(std::move(m_fake), std::move(setup));
        m_application->settings()->setSetupState(app::AppSettings::SetupState::Finished);
    }

    bool start()
    {
        m_window = app::openWindow(m_qml, *m_application);
        if (m_window == nullptr)
            return false;
        m_meter = std::make_unique<FrameMeter>(*m_window);
        connect(m_application->engine(), &app::EngineController::stateChanged, this, [this] {
            if (m_application->engine()->state() == app::EngineController::State::Ready)
                QTimer::singleShot(1000, this, [this] { fill(); });
        });
        connect(chat(), &app::ConversationController::answered, this,
                [this] { QTimer::singleShot(0, this, [this] { fill(); }); });
        m_window->show();
        m_application->start();
        return true;
    }

    QJsonObject result() const { return m_result; }

private:
    app::ConversationController *chat() const { return m_application->conversation(); }

    test::FakeScript script(double rate, int tokens)
    {
        test::FakeScript script;
        script.tokensPerSecond = rate;
        script.contextTokens = 1 << 20;
        script.answer = [this, tokens](const auto &) {
            test::FakeAnswer answer;
            answer.text = answerText(tokens, ++m_turn);
            return answer;
        };
        return script;
    }

    void fill()
    {
        if (m_isMeasuring)
            return report();
        if (m_residentEmpty == 0)
            m_residentEmpty = residentMebibytes();
        if (m_turn * kTurnTokens < m_tokens) {
            chat()->send(u"Tell me more about part %1 of hash maps, with code."_s.arg(m_turn));
            return;
        }
        // Whatever the filling left behind settles first.
        m_isMeasuring = true;
        QTimer::singleShot(3000, this, [this] {
            m_residentFull = residentMebibytes();
            m_filledTokens = chat()->promptTokens();
            m_engine.setScript(script(m_rate, static_cast<int>(m_rate * m_seconds)));
            m_meter->reset();
            m_clock.start();
            chat()->send(u"And now the long answer."_s);
        });
    }

    void report()
    {
        const double seconds = static_cast<double>(m_clock.elapsed()) / 1e3;
        const std::vector<Frame> &frames = m_meter->frames();
        const QJsonObject busy = summaryOf(frames, &Frame::busy);
        m_result = {
            { u"what"_s,
              u"GUI thread per frame while an answer streams into a long conversation"_s },
            { u"conversation_tokens"_s, m_filledTokens },
            { u"rows"_s, chat()->blocks()->rowCount() },
            { u"rate_tokens_per_second"_s, m_rate },
            { u"streamed_tokens"_s, m_rate * m_seconds },
            { u"seconds"_s, seconds },
            { u"frames"_s, static_cast<qint64>(frames.size()) },
            { u"frames_per_second"_s, static_cast<double>(frames.size()) / seconds },
            { u"busy_cpu_ms"_s, busy },
            { u"busy_wall_ms"_s, summaryOf(frames, &Frame::wall) },
            { u"paint_cpu_ms"_s, summaryOf(frames, &Frame::paint) },
            { u"target_p99_ms"_s, kTarget },
            { u"reached"_s, busy[u"p99"_s].toDouble() < kTarget },
            { u"resident_mib_empty"_s, m_residentEmpty },
            { u"resident_mib_full"_s, m_residentFull },
            { u"resident_mib_after"_s, residentMebibytes() },
            { u"qt"_s, QString::fromLatin1(qVersion()) },
            { u"cpu"_s, QSysInfo::currentCpuArchitecture() },
            { u"cores"_s, QThread::idealThreadCount() },
            { u"platform"_s, QGuiApplication::platformName() },
            { u"scene_graph"_s, QQuickWindow::sceneGraphBackend() },
        };
        QCoreApplication::quit();
    }

    int m_tokens;
    double m_rate;
    double m_seconds;
    QTemporaryDir m_folder;
    int m_turn = 0; // written on the worker that prepares, read between two requests
    std::unique_ptr<test::FakeEngine> m_fake;
    test::FakeEngine &m_engine;
    std::unique_ptr<app::Application> m_application;
    QQmlApplicationEngine m_qml;
    QQuickWindow *m_window = nullptr;
    std::unique_ptr<FrameMeter> m_meter;
    bool m_isMeasuring = false;
    int m_filledTokens = 0;
    double m_residentEmpty = 0;
    double m_residentFull = 0;
    QElapsedTimer m_clock;
    QJsonObject m_result;
};

} // namespace

int main(int argc, char *argv[])
{
    app::setUpProcess();
    QGuiApplication qt(argc, argv);
    QCommandLineParser parser;
    const QCommandLineOption tokens(u"tokens"_s, u"Size of the conversation."_s, u"count"_s,
                                    u"100000"_s);
    const QCommandLineOption rate(u"rate"_s, u"Tokens per second of the measured answer."_s,
                                  u"count"_s, u"400"_s);
    const QCommandLineOption seconds(u"seconds"_s, u"Length of the measured answer."_s, u"count"_s,
                                     u"30"_s);
    const QCommandLineOption output(
        u"output"_s, u"Where the JSON goes; standard output without it."_s, u"file"_s);
    const QCommandLineOption commit(u"commit"_s, u"What was measured, for the record."_s, u"id"_s);
    parser.addOptions({ tokens, rate, seconds, output, commit });
    parser.addHelpOption();
    parser.process(qt);
    app::setUpLook();

    Benchmark benchmark(parser.value(tokens).toInt(), parser.value(rate).toDouble(),
                        parser.value(seconds).toDouble());
    if (!benchmark.start())
        return EXIT_FAILURE;
    QGuiApplication::exec();
    QJsonObject result = benchmark.result();
    result[u"commit"_s] = parser.value(commit);
    const QByteArray json = QJsonDocument(result).toJson();
    QFile file(parser.value(output));
    const bool isOpen = parser.isSet(output) ? file.open(QIODevice::WriteOnly)
                                             : file.open(stdout, QIODevice::WriteOnly);
    if (!isOpen || file.write(json) != json.size()) {
        std::fprintf(stderr, "%s: cannot be written\n", qPrintable(parser.value(output)));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
