// SPDX-License-Identifier: MIT
#include "app/settings/app_settings.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>
#include <cmath>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr auto kWindowGeometry = "window/geometry"_L1;
constexpr auto kWindowMaximized = "window/maximized"_L1;
constexpr auto kSidebarFolded = "window/sidebarFolded"_L1;
constexpr auto kPanelFolded = "window/panelFolded"_L1;
constexpr auto kAppearance = "look/appearance"_L1;
constexpr auto kFontScale = "look/fontScale"_L1;
constexpr auto kReducedMotion = "look/reducedMotion"_L1;
constexpr auto kShowStatistics = "chat/showStatistics"_L1;
constexpr auto kModelFolder = "model/folder"_L1;
constexpr auto kModelsFolder = "model/modelsFolder"_L1;
constexpr auto kSetupStep = "setup/step"_L1;
constexpr auto kSetupState = "setup/state"_L1;
constexpr auto kRenderer = "look/renderer"_L1;
constexpr auto kContextTokens = "load/contextTokens"_L1;
constexpr auto kReserveMebibytes = "load/memoryReserveMiB"_L1;
constexpr auto kThreads = "load/threads"_L1;
constexpr auto kSequences = "load/sequences"_L1;

constexpr auto kEndpointEnabled = "endpoint/enabled"_L1;
constexpr auto kEndpointAddress = "endpoint/address"_L1;
constexpr auto kEndpointPort = "endpoint/port"_L1;
constexpr auto kEndpointRequiresKey = "endpoint/requiresKey"_L1;
constexpr auto kEndpointOrigins = "endpoint/origins"_L1;
constexpr auto kEndpointHosts = "endpoint/hosts"_L1;
constexpr auto kEndpointStrict = "endpoint/strictModel"_L1;
constexpr auto kEndpointReasoning = "endpoint/mirrorReasoning"_L1;

constexpr auto kRemoteEngines = "remote/engines"_L1;
constexpr auto kRemoteDefault = "remote/default"_L1;

constexpr int kLastSetupStep = 20; // which there are is SetupController's business
constexpr std::uint64_t kMebibyte = 1 << 20;

// Numbers of the file and their ranges.
struct Number
{
    QLatin1StringView key;
    double fallback = 0;
    double least = 0;
    double greatest = 0;
};
const Number kAppearanceNumber { kAppearance, 0, 0, 2 };
const Number kRendererNumber { kRenderer, 0, 0, 1 };
const Number kFontScaleNumber { kFontScale, 1, AppSettings::kSmallestFontScale,
                                AppSettings::kLargestFontScale };
const Number kContextNumber { kContextTokens, 0, 0, 1 << 30 };
const Number kReserveNumber { kReserveMebibytes,
                              static_cast<double>(engine::LoadOptions {}.memoryReserveBytes)
                                  / static_cast<double>(kMebibyte),
                              AppSettings::kLeastReserveMebibytes,
                              AppSettings::kGreatestReserveMebibytes };
const Number kSetupStepNumber { kSetupStep, 0, 0, kLastSetupStep };
const Number kSetupStateNumber { kSetupState, 0, 0, 2 };
const Number kThreadsNumber { kThreads, 0, 0, AppSettings::kMostThreads };
const Number kSequencesNumber { kSequences, 0, 0, engine::kMaxSequences };
const Number kEndpointPortNumber { kEndpointPort, EndpointSettings::kDefaultPort, 1, 65535 };

struct Read
{
    double value = 0;
    bool isAsStored = true;
};

Read read(const QSettings &file, const Number &number)
{
    if (!file.contains(number.key))
        return { number.fallback };
    bool isNumber = false;
    const double value = file.value(number.key).toDouble(&isNumber);
    if (!isNumber || !std::isfinite(value))
        return { number.fallback, false };
    const double inRange = std::clamp(value, number.least, number.greatest);
    return { inRange, inRange == value };
}

// One of a list has no nearest neighbour.
int readChoice(const QSettings &file, const Number &number)
{
    const Read stored = read(file, number);
    return static_cast<int>(stored.isAsStored ? stored.value : number.fallback);
}

QString defaultFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
        + "/firesteel/firesteel.ini"_L1;
}

} // namespace

AppSettings::AppSettings(const QString &file, QObject *parent)
    : QObject(parent)
    , m_file(file.isEmpty() ? defaultFile() : file, QSettings::IniFormat)
    , m_rendererAtStart(renderer())
{
    checkFile();
}

void AppSettings::checkFile()
{
    QStringList wrong;
    for (const Number &number :
         { kAppearanceNumber, kRendererNumber, kFontScaleNumber, kContextNumber, kReserveNumber,
           kThreadsNumber, kSequencesNumber, kEndpointPortNumber }) {
        if (!read(m_file, number).isAsStored)
            wrong << QString(number.key);
    }
    if (!modelsFolder().isEmpty() && QDir::isRelativePath(modelsFolder())) {
        wrong << QString(kModelsFolder);
        m_file.remove(kModelsFolder);
    }
    if (!wrong.isEmpty())
        m_notice = tr("%1 holds values that make no sense; others are used: %2.")
                       .arg(m_file.fileName(), wrong.join(u", "_s));
}

void AppSettings::dismissNotice()
{
    m_notice.clear();
    Q_EMIT noticeChanged();
}

bool AppSettings::store(QLatin1StringView key, const QVariant &value, const QVariant &current)
{
    if (value == current)
        return false;
    m_file.setValue(key, value);
    return true;
}

QRect AppSettings::windowGeometry() const { return m_file.value(kWindowGeometry).toRect(); }

void AppSettings::setWindowGeometry(const QRect &geometry)
{
    if (store(kWindowGeometry, geometry, windowGeometry()))
        Q_EMIT windowGeometryChanged();
}

bool AppSettings::windowMaximized() const { return m_file.value(kWindowMaximized, false).toBool(); }

void AppSettings::setWindowMaximized(bool maximized)
{
    if (store(kWindowMaximized, maximized, windowMaximized()))
        Q_EMIT windowMaximizedChanged();
}

bool AppSettings::sidebarFolded() const { return m_file.value(kSidebarFolded, false).toBool(); }

void AppSettings::setSidebarFolded(bool folded)
{
    if (store(kSidebarFolded, folded, sidebarFolded()))
        Q_EMIT sidebarFoldedChanged();
}

bool AppSettings::panelFolded() const { return m_file.value(kPanelFolded, true).toBool(); }

void AppSettings::setPanelFolded(bool folded)
{
    if (store(kPanelFolded, folded, panelFolded()))
        Q_EMIT panelFoldedChanged();
}

AppSettings::Appearance AppSettings::appearance() const
{
    return static_cast<Appearance>(readChoice(m_file, kAppearanceNumber));
}

void AppSettings::setAppearance(Appearance appearance)
{
    if (store(kAppearance, static_cast<int>(appearance), static_cast<int>(this->appearance())))
        Q_EMIT appearanceChanged();
}

double AppSettings::fontScale() const { return read(m_file, kFontScaleNumber).value; }

void AppSettings::setFontScale(double scale)
{
    if (!std::isfinite(scale))
        return;
    if (store(kFontScale, std::clamp(scale, kSmallestFontScale, kLargestFontScale), fontScale()))
        Q_EMIT fontScaleChanged();
}

bool AppSettings::showStatistics() const { return m_file.value(kShowStatistics, true).toBool(); }

void AppSettings::setShowStatistics(bool show)
{
    if (store(kShowStatistics, show, showStatistics()))
        Q_EMIT showStatisticsChanged();
}

bool AppSettings::reducedMotion() const { return m_file.value(kReducedMotion, false).toBool(); }

void AppSettings::setReducedMotion(bool reduced)
{
    if (store(kReducedMotion, reduced, reducedMotion()))
        Q_EMIT reducedMotionChanged();
}

QString AppSettings::modelFolder() const { return m_file.value(kModelFolder).toString(); }

void AppSettings::setModelFolder(const QString &folder)
{
    if (store(kModelFolder, folder, modelFolder()))
        Q_EMIT modelFolderChanged();
}

QString AppSettings::modelsFolder() const { return m_file.value(kModelsFolder).toString(); }

void AppSettings::setModelsFolder(const QString &folder)
{
    if (store(kModelsFolder, folder, modelsFolder()))
        Q_EMIT modelsFolderChanged();
}

int AppSettings::setupStep() const { return readChoice(m_file, kSetupStepNumber); }

void AppSettings::setSetupStep(int step)
{
    if (store(kSetupStep, std::clamp(step, 0, kLastSetupStep), setupStep()))
        Q_EMIT setupStepChanged();
}

AppSettings::SetupState AppSettings::setupState() const
{
    return static_cast<SetupState>(readChoice(m_file, kSetupStateNumber));
}

void AppSettings::setSetupState(SetupState state)
{
    if (store(kSetupState, static_cast<int>(state), static_cast<int>(setupState())))
        Q_EMIT setupStateChanged();
}

AppSettings::Renderer AppSettings::renderer() const
{
    return static_cast<Renderer>(readChoice(m_file, kRendererNumber));
}

void AppSettings::setRenderer(Renderer renderer)
{
    if (store(kRenderer, static_cast<int>(renderer), static_cast<int>(this->renderer())))
        Q_EMIT rendererChanged();
}

engine::LoadOptions AppSettings::loadOptions() const
{
    engine::LoadOptions options;
    options.contextTokens = static_cast<int>(read(m_file, kContextNumber).value);
    options.threads = static_cast<int>(read(m_file, kThreadsNumber).value);
    options.sequences = static_cast<int>(read(m_file, kSequencesNumber).value);
    options.memoryReserveBytes
        = static_cast<std::uint64_t>(read(m_file, kReserveNumber).value) * kMebibyte;
    return options;
}

void AppSettings::setLoadOptions(const engine::LoadOptions &options)
{
    m_file.setValue(kContextTokens, options.contextTokens);
    m_file.setValue(kThreads, options.threads);
    m_file.setValue(kSequences, options.sequences);
    m_file.setValue(kReserveMebibytes,
                    static_cast<qulonglong>(options.memoryReserveBytes / kMebibyte));
    Q_EMIT loadOptionsChanged();
}

EndpointSettings AppSettings::endpoint() const
{
    EndpointSettings endpoint;
    endpoint.isEnabled = m_file.value(kEndpointEnabled, false).toBool();
    endpoint.address = m_file.value(kEndpointAddress, endpoint.address).toString();
    endpoint.port = readChoice(m_file, kEndpointPortNumber);
    endpoint.requiresKey = m_file.value(kEndpointRequiresKey, false).toBool();
    endpoint.origins = m_file.value(kEndpointOrigins).toStringList();
    endpoint.hosts = m_file.value(kEndpointHosts).toStringList();
    endpoint.isModelStrict = m_file.value(kEndpointStrict, false).toBool();
    endpoint.mirrorsReasoning = m_file.value(kEndpointReasoning, false).toBool();
    return endpoint;
}

void AppSettings::setEndpoint(const EndpointSettings &endpoint)
{
    if (endpoint == this->endpoint())
        return;
    m_file.setValue(kEndpointEnabled, endpoint.isEnabled);
    m_file.setValue(kEndpointAddress, endpoint.address);
    m_file.setValue(kEndpointPort, endpoint.port);
    m_file.setValue(kEndpointRequiresKey, endpoint.requiresKey);
    m_file.setValue(kEndpointOrigins, endpoint.origins);
    m_file.setValue(kEndpointHosts, endpoint.hosts);
    m_file.setValue(kEndpointStrict, endpoint.isModelStrict);
    m_file.setValue(kEndpointReasoning, endpoint.mirrorsReasoning);
    Q_EMIT endpointChanged();
}

QString AppSettings::remoteEngines() const { return m_file.value(kRemoteEngines).toString(); }

void AppSettings::setRemoteEngines(const QString &json)
{
    store(kRemoteEngines, json, remoteEngines());
}

QString AppSettings::remoteDefault() const { return m_file.value(kRemoteDefault).toString(); }

void AppSettings::setRemoteDefault(const QString &id)
{
    if (store(kRemoteDefault, id, remoteDefault()))
        Q_EMIT remoteDefaultChanged();
}

QString AppSettings::folder() const { return QFileInfo(m_file.fileName()).path(); }

void AppSettings::restoreDefaults()
{
    for (const auto key : { kSidebarFolded,     kPanelFolded,   kAppearance,
                            kFontScale,         kReducedMotion, kShowStatistics,
                            kRenderer,          kContextTokens, kReserveMebibytes,
                            kThreads,           kSequences,     kEndpointEnabled,
                            kEndpointAddress,   kEndpointPort,  kEndpointRequiresKey,
                            kEndpointOrigins,   kEndpointHosts, kEndpointStrict,
                            kEndpointReasoning, kRemoteDefault })
        m_file.remove(key);
    m_notice.clear();
    Q_EMIT sidebarFoldedChanged();
    Q_EMIT panelFoldedChanged();
    Q_EMIT appearanceChanged();
    Q_EMIT fontScaleChanged();
    Q_EMIT reducedMotionChanged();
    Q_EMIT showStatisticsChanged();
    Q_EMIT rendererChanged();
    Q_EMIT loadOptionsChanged();
    Q_EMIT endpointChanged();
    Q_EMIT remoteDefaultChanged();
    Q_EMIT noticeChanged();
}

} // namespace firesteel::app
