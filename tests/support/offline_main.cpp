// SPDX-License-Identifier: MIT
//
// firesteel-offline: the real application on a scripted engine, for work on the window where no
// model is. What it says is in offline_script.cpp.
#include "app/application.h"
#include "app/termination.h"
#include "qml/window.h"
#include "tests/support/fake_engine.h"
#include "tests/support/offline_script.h"

#include <QCommandLineParser>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QStandardPaths>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;

int main(int argc, char *argv[])
{
    app::setUpProcess();
    QCoreApplication::setApplicationName(u"firesteel-offline"_s);
    QGuiApplication qt(argc, argv);
    QCommandLineParser parser;
    parser.setApplicationDescription(u"Firesteel on a scripted engine."_s);
    const QCommandLineOption speed(u"speed"_s, u"Tokens per second; 0: as fast as it can."_s,
                                   u"number"_s, u"60"_s);
    parser.addOption(speed);
    parser.addHelpOption();
    parser.process(qt);
    app::setUpLook();

    auto engine
        = std::make_unique<test::FakeEngine>(test::offlineScript(parser.value(speed).toDouble()));
    app::ApplicationSetup setup;
    setup.engine.findModel = [] { return app::ModelLocation { "/", {} }; };
    app::Application application(std::move(engine), std::move(setup));

    app::quitOnTermination(qt);
    QQmlApplicationEngine qml;
    if (app::openWindow(qml, application) == nullptr)
        return EXIT_FAILURE;
    application.start();
    return QGuiApplication::exec();
}
