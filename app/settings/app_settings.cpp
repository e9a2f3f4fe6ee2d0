// SPDX-License-Identifier: MIT
#include "app/settings/app_settings.h"

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
constexpr auto kThinkingEffort = "chat/thinkingEffort"_L1;

constexpr int kLowEffort = 1;
constexpr int kLastEffort = 3;
constexpr int kLastSetupStep = 20; // which there are is SetupController's business

QString defaultFile()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
        + "/firesteel/firesteel.ini"_L1;
}

// A person may edit the file: a value out of range is the default, never a surprise.
int boundedInt(const QSettings &file, QLatin1StringView key, int fallback, int last)
{
    bool isNumber = false;
    const int value = file.value(key, fallback).toInt(&isNumber);
    return isNumber && value >= 0 && value <= last ? value : fallback;
}

} // namespace

AppSettings::AppSettings(const QString &file, QObject *parent)
    : QObject(parent)
    , m_file(file.isEmpty() ? defaultFile() : file, QSettings::IniFormat)
{
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
    return static_cast<Appearance>(
        boundedInt(m_file, kAppearance, 0, static_cast<int>(Appearance::Dark)));
}

void AppSettings::setAppearance(Appearance appearance)
{
    if (store(kAppearance, static_cast<int>(appearance), static_cast<int>(this->appearance())))
        Q_EMIT appearanceChanged();
}

double AppSettings::fontScale() const
{
    bool isNumber = false;
    const double scale = m_file.value(kFontScale, 1.0).toDouble(&isNumber);
    return isNumber && std::isfinite(scale)
        ? std::clamp(scale, kSmallestFontScale, kLargestFontScale)
        : 1.0;
}

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

int AppSettings::setupStep() const { return boundedInt(m_file, kSetupStep, 0, kLastSetupStep); }

void AppSettings::setSetupStep(int step)
{
    if (store(kSetupStep, std::clamp(step, 0, kLastSetupStep), setupStep()))
        Q_EMIT setupStepChanged();
}

AppSettings::SetupState AppSettings::setupState() const
{
    return static_cast<SetupState>(
        boundedInt(m_file, kSetupState, 0, static_cast<int>(SetupState::Finished)));
}

void AppSettings::setSetupState(SetupState state)
{
    if (store(kSetupState, static_cast<int>(state), static_cast<int>(setupState())))
        Q_EMIT setupStateChanged();
}

int AppSettings::defaultThinkingEffort() const
{
    return boundedInt(m_file, kThinkingEffort, kLowEffort, kLastEffort);
}

void AppSettings::setDefaultThinkingEffort(int effort)
{
    if (store(kThinkingEffort, std::clamp(effort, 0, kLastEffort), defaultThinkingEffort()))
        Q_EMIT defaultThinkingEffortChanged();
}

} // namespace firesteel::app
