// SPDX-License-Identifier: MIT
//
// The composition root of the desktop application: reads the command line and the environment,
// makes the engine and the Application, opens the window. Nothing else in the app reads either.
#include "app/application.h"
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
#include <optional>
#include <string_view>

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
    parser.addOptions({ model, appearance, download, accept });
    parser.addHelpOption();
    parser.addVersionOption();
    parser.process(application);
    return { parser.value(model),
             parser.value(appearance),
             { parser.values(download), parser.values(accept) } };
}

// Before an application exists: a headless run must not look for a display.
bool isHeadless(int argc, char *argv[])
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        if (argument.starts_with("--download") || argument.starts_with("--accept-license"))
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

} // namespace

int main(int argc, char *argv[])
{
    app::setUpProcess();
    if (isHeadless(argc, argv)) {
        const QCoreApplication qt(argc, argv);
        app::ModelsController::Setup models = modelsSetup();
        if (const QString chosen = app::AppSettings({}).modelsFolder(); !chosen.isEmpty())
            models.downloads.modelsFolder = chosen;
        return app::runHeadless(parse(qt).headless, std::move(models),
                                dataFolder() + u"/firesteel.db"_s);
    }
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
    setup.isModelGiven = !options.model.isEmpty() || qEnvironmentVariableIsSet("FIRESTEEL_MODEL");
    setup.engine.findModel
        = [model = options.model, environment = qEnvironmentVariable("FIRESTEEL_MODEL"),
           program = QCoreApplication::applicationDirPath()] {
              return app::findModel(model, environment, program);
          };
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
