// SPDX-License-Identifier: MIT
#include "app/endpoint/endpoint_controller.h"

#include "app/api/access_rules.h"
#include "app/api/api_server.h"
#include "app/endpoint/endpoint_options.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QHostAddress>
#include <QLocale>
#include <QLoggingCategory>
#include <QtConcurrentRun>

#include <utility>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

namespace {

Q_LOGGING_CATEGORY(logApi, "firesteel.api", QtInfoMsg)

constexpr int kGreatestPort = 65535;
constexpr qsizetype kLongestKeyName = 60;

void forwardLog(engine::LogLevel level, std::string_view /*category*/, std::string_view message)
{
    if (level >= engine::LogLevel::Warning)
        qCWarning(logApi).noquote() << QString::fromUtf8(message);
}

} // namespace

EndpointController::EndpointController(engine::Engine &engine, AppSettings &settings,
                                       QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_settings(settings)
    , m_keys(endpointKeyFile(settings))
    , m_keyProblem(QString::fromStdString(m_keys.problem()))
{
    m_worker.setMaxThreadCount(1);
    connect(&m_settings, &AppSettings::endpointChanged, this, [this] {
        Q_EMIT changed();
        apply();
    });
}

EndpointController::~EndpointController()
{
    m_worker.waitForDone();
    m_server.reset();
}

void EndpointController::start()
{
    if (isEnabled())
        apply();
}

QString EndpointController::url() const
{
    return endpointUrl(address(), isRunning() ? m_port : port());
}

bool EndpointController::isExposed() const { return !isLoopbackAddress(address().toStdString()); }

QList<EndpointKey> EndpointController::keys() const
{
    QList<EndpointKey> keys;
    for (const ApiKey &key : m_keys.list()) {
        const QDate made = QDateTime::fromSecsSinceEpoch(key.created).date();
        keys.push_back({ QString::fromStdString(key.id), QString::fromStdString(key.name),
                         tr("ends in %1, made on %2")
                             .arg(QString::fromStdString(key.ending),
                                  QLocale().toString(made, QLocale::ShortFormat)) });
    }
    return keys;
}

void EndpointController::store(const EndpointSettings &settings)
{
    m_settings.setEndpoint(settings); // -> endpointChanged, where something did
}

void EndpointController::setEnabled(bool enabled)
{
    EndpointSettings settings = m_settings.endpoint();
    settings.isEnabled = enabled;
    store(settings);
}

void EndpointController::setRequiresKey(bool isRequired)
{
    EndpointSettings settings = m_settings.endpoint();
    settings.requiresKey = isRequired;
    store(settings);
}

bool EndpointController::setAddressText(const QString &text)
{
    const QString address = text.trimmed().toLower();
    if (address != "localhost"_L1 && QHostAddress(address).isNull())
        return false;
    EndpointSettings settings = m_settings.endpoint();
    settings.address = address;
    store(settings);
    return true;
}

bool EndpointController::setPortText(const QString &text)
{
    bool isNumber = false;
    const int port = text.trimmed().toInt(&isNumber);
    if (!isNumber || port < 1 || port > kGreatestPort)
        return false;
    EndpointSettings settings = m_settings.endpoint();
    settings.port = port;
    store(settings);
    return true;
}

bool EndpointController::addOrigin(const QString &text)
{
    const auto normal = normalOrigin(text.trimmed().toStdString());
    if (!normal)
        return false;
    EndpointSettings settings = m_settings.endpoint();
    const QString origin = QString::fromStdString(*normal);
    if (!settings.origins.contains(origin))
        settings.origins << origin;
    store(settings);
    return true;
}

void EndpointController::removeOrigin(const QString &origin)
{
    EndpointSettings settings = m_settings.endpoint();
    settings.origins.removeAll(origin);
    store(settings);
}

void EndpointController::createKey(const QString &name)
{
    const QString shown = name.simplified().left(kLongestKeyName);
    const bool wasEmpty = m_keys.isEmpty();
    const auto key = m_keys.create((shown.isEmpty() ? tr("Key") : shown).toStdString());
    m_newKey = key ? QString::fromStdString(*key) : QString();
    m_keyProblem = key ? QString() : QString::fromStdString(key.error());
    Q_EMIT keysChanged();
    if (key && wasEmpty && isEnabled() && !isRunning())
        apply(); // it was waiting for one
}

void EndpointController::dismissNewKey()
{
    m_newKey.clear();
    Q_EMIT keysChanged();
}

void EndpointController::copyUrl() const { QGuiApplication::clipboard()->setText(url()); }

void EndpointController::copyNewKey() const { QGuiApplication::clipboard()->setText(m_newKey); }

void EndpointController::removeKey(const QString &id)
{
    const auto removed = m_keys.remove(id.toStdString());
    m_keyProblem = removed ? QString() : QString::fromStdString(removed.error());
    m_newKey.clear();
    Q_EMIT keysChanged();
}

void EndpointController::apply()
{
    const std::uint64_t change = ++m_change;
    const bool isWanted = isEnabled();
    m_port = 0;
    m_errorText.clear();
    Q_EMIT changed();
    QtConcurrent::run(&m_worker,
                      [this, isWanted, options = serverOptions(m_settings.endpoint()),
                       sink = m_log.sink()]() -> std::expected<int, std::string> {
                          m_server.reset(); // the old address may be the new one
                          if (!isWanted)
                              return 0;
                          auto server = std::make_unique<ApiServer>(m_engine, m_keys, options, sink,
                                                                    forwardLog);
                          auto port = server->start();
                          if (port)
                              m_server = std::move(server);
                          return port;
                      })
        .then(this, [this, change](const std::expected<int, std::string> &port) {
            onStarted(change, port);
        });
}

void EndpointController::onStarted(std::uint64_t change,
                                   const std::expected<int, std::string> &port)
{
    if (change != m_change)
        return; // another follows
    m_port = port.value_or(0);
    m_errorText = port ? QString() : QString::fromStdString(port.error());
    if (m_port > 0)
        qCInfo(logApi).noquote() << "listening on" << url();
    Q_EMIT changed();
}

} // namespace firesteel::app
