// SPDX-License-Identifier: MIT
#include "app/endpoint/headless_endpoint.h"

#include "app/api/api_server.h"
#include "app/endpoint/endpoint_options.h"
#include "app/settings/app_settings.h"

#include <QCoreApplication>
#include <QTimer>

#include <cstdio>
#include <utility>

namespace firesteel::app {

namespace {

constexpr int kWatchMilliseconds = 500; // for an engine that broke while it served

int failed(const QString &why)
{
    std::fprintf(stderr, "%s\n", qPrintable(why));
    return 1;
}

void forwardLog(engine::LogLevel level, std::string_view /*category*/, std::string_view message)
{
    if (level >= engine::LogLevel::Warning)
        std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
}

} // namespace

int runEndpoint(std::unique_ptr<engine::Engine> engine, HeadlessEndpointSetup setup)
{
    using State = EngineController::State;
    const AppSettings settings(setup.settingsFile);
    EndpointSettings endpoint = settings.endpoint();
    if (setup.port)
        endpoint.port = *setup.port;
    const ApiKeys keys(endpointKeyFile(settings));
    EngineController controller(*engine, std::move(setup.engine));
    controller.setLoadOptions(settings.loadOptions());
    if (!setup.isModelGiven && !settings.modelFolder().isEmpty())
        controller.choose(settings.modelFolder());

    ApiServer server(
        *engine, keys, serverOptions(endpoint), [](const RequestRecord &) { }, forwardLog);
    const auto port = server.start();
    if (!port)
        return failed(QString::fromStdString(port.error()));
    std::printf("Listening on %s\n", qPrintable(endpointUrl(endpoint.address, *port)));
    std::fflush(stdout);

    QObject::connect(&controller, &EngineController::stateChanged, &controller, [&controller] {
        if (controller.state() == State::Ready) {
            std::printf("%s is ready: %d tokens of context, %s\n",
                        qPrintable(controller.modelName()), controller.contextTokens(),
                        qPrintable(controller.backendText()));
            std::fflush(stdout);
        } else if (controller.state() == State::Failed || controller.state() == State::NoModel) {
            QCoreApplication::exit(failed(controller.errorText()));
        }
    });
    QTimer watch;
    QObject::connect(&watch, &QTimer::timeout, &controller, [&engine, &watch] {
        if (engine->stats().state != engine::EngineStats::State::Failed)
            return;
        watch.stop();
        // Where loading failed, the controller tells why; it may be about to.
        QTimer::singleShot(kWatchMilliseconds, QCoreApplication::instance(), [] {
            QCoreApplication::exit(failed(QStringLiteral("The engine has failed.")));
        });
    });
    watch.start(kWatchMilliseconds);
    controller.retry();
    return QCoreApplication::exec();
}

int makeEndpointKey(const QString &name, const QString &settingsFile)
{
    ApiKeys keys(endpointKeyFile(AppSettings(settingsFile)));
    const auto key = keys.create(name.toStdString());
    if (!key)
        return failed(QString::fromStdString(key.error()));
    std::printf("%s\n", key->c_str());
    return 0;
}

int removeEndpointKeys(const QString &name, const QString &settingsFile)
{
    ApiKeys keys(endpointKeyFile(AppSettings(settingsFile)));
    if (const std::string problem = keys.problem(); !problem.empty())
        return failed(QString::fromStdString(problem));
    bool isFound = false;
    for (const ApiKey &key : keys.list()) {
        if (key.name != name.toStdString())
            continue;
        isFound = true;
        if (const auto removed = keys.remove(key.id); !removed)
            return failed(QString::fromStdString(removed.error()));
    }
    return isFound ? 0 : failed(QStringLiteral("There is no key of the name %1.").arg(name));
}

} // namespace firesteel::app
