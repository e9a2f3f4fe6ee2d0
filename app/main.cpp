// SPDX-License-Identifier: MIT
//
// The composition root of the desktop application: reads the command line and the environment,
// makes the engine and the Application, opens the window. Nothing else in the app reads either.
#include "app/application.h"
#include "app/endpoint/headless_endpoint.h"
#include "app/idle_cursor.h"
#include "app/log_file.h"
#include "app/model_location.h"
#include "app/models/headless_download.h"
#include "app/session_marker.h"
#include "app/single_instance.h"
#include "app/termination.h"
#include "engine/api/engine.h"
#include "qml/window.h"

#include <QCommandLineParser>
#include <QGuiApplication>
#include <QLoggingCategory>
#include <QMetaEnum>
#include <QProcessEnvironment>
#include <QQmlApplicationEngine>
#include <QQuickWindow>
#include <QStandardPaths>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;

namespace {

Q_LOGGING_CATEGORY(logApp, "firesteel.ui", QtInfoMsg)
Q_LOGGING_CATEGORY(logEngine, "firesteel.engine", QtInfoMsg)

void forwardLog(engine::LogLevel level, std::string_view category, std::string_view message)
{
    const QString line = QString::fromUtf8(category) + u": "_s + QString::fromUtf8(message);
    switch (level) {
    case engine::LogLevel::Debug:
        qCDebug(logEngine).noquote() << line;
        break;
    case engine::LogLevel::Info:
        qCInfo(logEngine).noquote() << line;
        break;
    case engine::LogLevel::Warning:
        qCWarning(logEngine).noquote() << line;
        break;
    case engine::LogLevel::Error:
        qCCritical(logEngine).noquote() << line;
        break;
    }
}

struct Options
{
    QString model;
    QString appearance;
    app::HeadlessRequest headless;
    bool isEndpoint = false; // without a window
    QString port; // of it; empty: the settings'
    QString newKey; // the name of one to make
    QString removedKey;
};

std::optional<app::AppSettings::Appearance> appearanceNamed(const QString &name)
{
    const QMetaEnum names = QMetaEnum::fromType<app::AppSettings::Appearance>();
    for (int i = 0; i < names.keyCount(); ++i) {
        if (name.compare(QLatin1StringView(names.key(i)), Qt::CaseInsensitive) == 0)
            return static_cast<app::AppSettings::Appearance>(names.value(i));
    }
    return std::nullopt;
}

Options parse(const QCoreApplication &application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(u"Chat with GLM-5.3-Flash on this computer."_s);
    const QCommandLineOption model(
        u"model"_s,
        u"Folder of the model. Without it: FIRESTEEL_MODEL, then the model beside the program."_s,
        u"folder"_s);
    const QCommandLineOption appearance(
        u"appearance"_s, u"system, light or dark, for this run and later ones."_s, u"name"_s);
    const QCommandLineOption download(
        u"download"_s, u"Download a model of the catalogue without a window, then end."_s,
        u"repository@revision"_s);
    const QCommandLineOption accept(
        u"accept-license"_s,
        u"Accept the licence of a model without a window. You have read it where it is published."_s,
        u"repository@revision"_s);
    const QCommandLineOption headless(
        u"headless"_s, u"Serve the local endpoint without a window, with its settings and keys."_s);
    const QCommandLineOption port(
        u"port"_s, u"With --headless: where to listen instead of the settings' port."_s,
        u"number"_s);
    const QCommandLineOption newKey(
        u"new-key"_s, u"Make a key of the endpoint, write it to standard output, then end."_s,
        u"name"_s);
    const QCommandLineOption removeKey(u"remove-key"_s,
                                       u"Remove the keys of that name, then end."_s, u"name"_s);
    parser.addOptions({ model, appearance, download, accept, headless, port, newKey, removeKey });
    parser.addHelpOption();
    parser.addVersionOption();
    parser.process(application);
    return { parser.value(model),
             parser.value(appearance),
             { parser.values(download), parser.values(accept) },
             parser.isSet(headless),
             parser.value(port),
             parser.value(newKey),
             parser.value(removeKey) };
}

// Before an application exists: a headless run must not look for a display.
bool isHeadless(int argc, char *argv[])
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        if (argument.starts_with("--download") || argument.starts_with("--accept-license")
            || argument.starts_with("--new-key") || argument.starts_with("--remove-key")
            || argument == "--headless")
            return true;
    }
    return false;
}

QString dataFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + u"/firesteel"_s;
}

app::ModelsController::Setup modelsSetup()
{
    return app::ModelsController::setupFrom(QProcessEnvironment::systemEnvironment(), dataFolder());
}

bool isModelGiven(const Options &options)
{
    return !options.model.isEmpty() || qEnvironmentVariableIsSet("FIRESTEEL_MODEL");
}

std::function<app::ModelLocation()> modelFinder(const Options &options)
{
    return [model = options.model, environment = qEnvironmentVariable("FIRESTEEL_MODEL"),
            program = QCoreApplication::applicationDirPath()] {
        return app::findModel(model, environment, program);
    };
}

int serveEndpoint(QCoreApplication &qt, const Options &options)
{
    app::HeadlessEndpointSetup setup;
    setup.engine.findModel = modelFinder(options);
    setup.isModelGiven = isModelGiven(options);
    if (!options.port.isEmpty()) {
        bool isNumber = false;
        setup.port = options.port.toUShort(&isNumber);
        if (!isNumber) {
            std::fprintf(stderr, "--port: \"%s\" is no number from 0 to 65535\n",
                         qPrintable(options.port));
            return EXIT_FAILURE;
        }
    }
    app::quitOnTermination(qt);
    return app::runEndpoint(engine::createEngine(forwardLog), std::move(setup));
}

int runWithoutWindow(int argc, char *argv[])
{
    QCoreApplication qt(argc, argv);
    const Options options = parse(qt);
    if (!options.newKey.isEmpty())
        return app::makeEndpointKey(options.newKey, {});
    if (!options.removedKey.isEmpty())
        return app::removeEndpointKeys(options.removedKey, {});
    if (options.isEndpoint && options.headless.isEmpty())
        return serveEndpoint(qt, options);
    if (options.isEndpoint) {
        std::fputs("--headless serves the endpoint; downloads are a run of their own.\n", stderr);
        return EXIT_FAILURE;
    }
    app::ModelsController::Setup models = modelsSetup();
    if (const QString chosen = app::AppSettings({}).modelsFolder(); !chosen.isEmpty())
        models.downloads.modelsFolder = chosen;
    return app::runHeadless(options.headless, std::move(models), dataFolder() + u"/firesteel.db"_s);
}

} // namespace

int main(int argc, char *argv[])
{
    app::setUpProcess();
    if (isHeadless(argc, argv))
        return runWithoutWindow(argc, argv);
    QGuiApplication qt(argc, argv);
    const Options options = parse(qt);
    app::SingleInstance instance(app::SingleInstance::socketFor(
        QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation), dataFolder()));
    switch (instance.claim(qgetenv("XDG_ACTIVATION_TOKEN"))) {
    case app::SingleInstance::Claim::First:
        break;
    case app::SingleInstance::Claim::Raised:
        std::fputs("Firesteel runs already; its window was raised.\n", stderr);
        return EXIT_SUCCESS;
    case app::SingleInstance::Claim::Unanswered:
        std::fputs("Another Firesteel runs but does not answer. End it first.\n", stderr);
        return EXIT_FAILURE;
    }
    const app::LogFile log(dataFolder() + u"/logs"_s);
    app::quitOnTermination(qt); // first: a signal from here on is a proper end
    const app::SessionMarker marker(dataFolder() + u"/running"_s);
    if (marker.wasLeftBehind())
        qCWarning(logApp) << "The last run did not end properly; no model is loaded by itself.";
    app::setUpLook();
    const app::IdleCursor cursor(qt);

    app::ApplicationSetup setup;
    setup.isAfterCrash = marker.wasLeftBehind();
    setup.models = modelsSetup();
    setup.isModelGiven = isModelGiven(options);
    setup.engine.findModel = modelFinder(options);
    app::Application application(engine::createEngine(forwardLog), std::move(setup));
    if (!options.appearance.isEmpty()) {
        const auto appearance = appearanceNamed(options.appearance);
        if (!appearance) {
            std::fprintf(stderr, "--appearance: \"%s\" is none of system, light, dark\n",
                         qPrintable(options.appearance));
            return EXIT_FAILURE;
        }
        application.settings()->setAppearance(*appearance);
    }

    QQmlApplicationEngine qml;
    QQuickWindow *window = app::openWindow(qml, application);
    if (window == nullptr)
        return EXIT_FAILURE;
    QObject::connect(&instance, &app::SingleInstance::raiseRequested, window,
                     [window](const QByteArray &token) { app::raiseWindow(*window, token); });
    application.start();
    return QGuiApplication::exec();
}
