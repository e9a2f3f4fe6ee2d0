// SPDX-License-Identifier: MIT
#include "qml/window.h"

#include "app/application.h"

#include <QFont>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QIcon>
#include <QQmlApplicationEngine>
#include <QQmlExtensionPlugin>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QSGRendererInterface>

Q_IMPORT_QML_PLUGIN(Firesteel_AppPlugin)
Q_IMPORT_QML_PLUGIN(Firesteel_UiPlugin)

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

void setUpProcess()
{
    QCoreApplication::setApplicationName(u"firesteel"_s);
    QCoreApplication::setOrganizationName(u"firesteel"_s);
    QCoreApplication::setApplicationVersion(QStringLiteral(FIRESTEEL_VERSION));
    QGuiApplication::setApplicationDisplayName(u"Firesteel"_s);
    QGuiApplication::setDesktopFileName(u"org.firesteel.Firesteel"_s);
    // Sharp text at 125 % and when a window moves between screens.
    QGuiApplication::setHighDpiScaleFactorRoundingPolicy(
        Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QQuickStyle::setStyle(u"Basic"_s);
    QQuickWindow::setTextRenderType(QQuickWindow::NativeTextRendering);
}

void setUpLook()
{
    for (const auto *file :
         { "Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMonoNL-Regular.ttf" })
        QFontDatabase::addApplicationFont(u":/firesteel/fonts/"_s + QLatin1StringView(file));
    QFont font(u"Inter"_s);
    font.setPixelSize(13);
    QGuiApplication::setFont(font);
    QGuiApplication::setWindowIcon(
        QIcon(u":/firesteel/icons/hicolor/scalable/apps/org.firesteel.Firesteel.svg"_s));
}

QQuickWindow *openWindow(QQmlApplicationEngine &qml, Application &application)
{
    if (application.settings()->renderer() == AppSettings::Renderer::Software)
        QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
    qml.setInitialProperties({ { u"application"_s, QVariant::fromValue(&application) } });
    qml.loadFromModule("Firesteel.Ui", "Main");
    return qml.rootObjects().isEmpty()
        ? nullptr
        : qobject_cast<QQuickWindow *>(qml.rootObjects().constFirst());
}

void raiseWindow(QQuickWindow &window, const QByteArray &activationToken)
{
    // Where Qt's Wayland plugin looks for it when a window asks to be activated.
    if (!activationToken.isEmpty())
        qputenv("XDG_ACTIVATION_TOKEN", activationToken);
    if (window.windowStates().testFlag(Qt::WindowMinimized))
        window.setWindowStates(window.windowStates() & ~Qt::WindowMinimized);
    window.show();
    window.raise();
    window.requestActivate();
}

} // namespace firesteel::app
