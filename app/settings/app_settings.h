// SPDX-License-Identifier: MIT
//
// What a person chose about the window and the engine, kept in an ini file. Each setter writes
// through; QSettings syncs later from the event loop. A person may edit the file: what is out of
// range there is brought back, and `notice` says so. Owned by Application.
#pragma once

#include "app/settings/endpoint_settings.h"
#include "engine/api/engine.h"

#include <QObject>
#include <QRect>
#include <QSettings>
#include <QString>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class AppSettings : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the settings")
    Q_PROPERTY(QRect windowGeometry READ windowGeometry WRITE setWindowGeometry NOTIFY
                   windowGeometryChanged FINAL)
    Q_PROPERTY(bool windowMaximized READ windowMaximized WRITE setWindowMaximized NOTIFY
                   windowMaximizedChanged FINAL)
    Q_PROPERTY(bool sidebarFolded READ sidebarFolded WRITE setSidebarFolded NOTIFY
                   sidebarFoldedChanged FINAL)
    Q_PROPERTY(
        bool panelFolded READ panelFolded WRITE setPanelFolded NOTIFY panelFoldedChanged FINAL)
    Q_PROPERTY(
        Appearance appearance READ appearance WRITE setAppearance NOTIFY appearanceChanged FINAL)
    Q_PROPERTY(double fontScale READ fontScale WRITE setFontScale NOTIFY fontScaleChanged FINAL)
    Q_PROPERTY(bool showStatistics READ showStatistics WRITE setShowStatistics NOTIFY
                   showStatisticsChanged FINAL)
    Q_PROPERTY(bool reducedMotion READ reducedMotion WRITE setReducedMotion NOTIFY
                   reducedMotionChanged FINAL)
    // Of the model that a person chose; empty: none was.
    Q_PROPERTY(
        QString modelFolder READ modelFolder WRITE setModelFolder NOTIFY modelFolderChanged FINAL)
    // Where downloaded models go; empty: beside the conversations.
    Q_PROPERTY(QString modelsFolder READ modelsFolder WRITE setModelsFolder NOTIFY
                   modelsFolderChanged FINAL)
    // Of the first run: how far it came, and whether a person left or finished it.
    Q_PROPERTY(int setupStep READ setupStep WRITE setSetupStep NOTIFY setupStepChanged FINAL)
    Q_PROPERTY(
        SetupState setupState READ setupState WRITE setSetupState NOTIFY setupStateChanged FINAL)
    // From the next start on.
    Q_PROPERTY(Renderer renderer READ renderer WRITE setRenderer NOTIFY rendererChanged FINAL)
    Q_PROPERTY(bool rendererWaiting READ isRendererWaiting NOTIFY rendererChanged FINAL)
    Q_PROPERTY(QString notice READ notice NOTIFY noticeChanged FINAL)

public:
    enum class Appearance { System, Light, Dark };
    Q_ENUM(Appearance)
    enum class SetupState { New, Left, Finished };
    Q_ENUM(SetupState)

    enum class Renderer { Hardware, Software };
    Q_ENUM(Renderer)

    static constexpr double kSmallestFontScale = 0.7;
    static constexpr double kLargestFontScale = 2.5;
    static constexpr int kLeastReserveMebibytes = 256;
    static constexpr int kGreatestReserveMebibytes = 1 << 20;
    static constexpr int kMostThreads = 1024; // as the engine allows

    // file empty: firesteel/firesteel.ini in the user's configuration folder.
    explicit AppSettings(const QString &file, QObject *parent = nullptr);

    QRect windowGeometry() const; // invalid when never stored
    void setWindowGeometry(const QRect &geometry);
    bool windowMaximized() const;
    void setWindowMaximized(bool maximized);
    bool sidebarFolded() const;
    void setSidebarFolded(bool folded);
    bool panelFolded() const;
    void setPanelFolded(bool folded);
    Appearance appearance() const;
    void setAppearance(Appearance appearance);
    double fontScale() const;
    void setFontScale(double scale);
    bool showStatistics() const;
    void setShowStatistics(bool show);
    bool reducedMotion() const;
    void setReducedMotion(bool reduced);
    QString modelFolder() const;
    void setModelFolder(const QString &folder);
    QString modelsFolder() const;
    void setModelsFolder(const QString &folder);
    int setupStep() const;
    void setSetupStep(int step);
    SetupState setupState() const;
    void setSetupState(SetupState state);
    Renderer renderer() const;
    void setRenderer(Renderer renderer);
    bool isRendererWaiting() const { return renderer() != m_rendererAtStart; }
    // How a model is loaded; its folder is not part of it.
    engine::LoadOptions loadOptions() const;
    void setLoadOptions(const engine::LoadOptions &options);
    EndpointSettings endpoint() const;
    void setEndpoint(const EndpointSettings &endpoint);
    // A JSON array, which RemoteEngines writes and reads; without keys.
    QString remoteEngines() const;
    void setRemoteEngines(const QString &json);
    QString remoteDefault() const; // id of the engine that new chats use; empty: this machine
    void setRemoteDefault(const QString &id);
    QString folder() const; // of the file

    QString notice() const { return m_notice; }
    Q_INVOKABLE void dismissNotice();
    // As if never touched, but for the window's place, the model in use and the folder of models.
    void restoreDefaults();

Q_SIGNALS:
    void windowGeometryChanged();
    void windowMaximizedChanged();
    void sidebarFoldedChanged();
    void panelFoldedChanged();
    void appearanceChanged();
    void fontScaleChanged();
    void showStatisticsChanged();
    void reducedMotionChanged();
    void modelFolderChanged();
    void modelsFolderChanged();
    void setupStepChanged();
    void setupStateChanged();
    void rendererChanged();
    void loadOptionsChanged();
    void endpointChanged();
    void remoteDefaultChanged();
    void noticeChanged();

private:
    bool store(QLatin1StringView key, const QVariant &value, const QVariant &current);

    void checkFile();

    QSettings m_file;
    Renderer m_rendererAtStart;
    QString m_notice;
};

} // namespace firesteel::app
