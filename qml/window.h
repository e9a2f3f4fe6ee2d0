// SPDX-License-Identifier: MIT
//
// Brings the window up: names, fonts and icon of the process, then Main.qml on a given Application.
// Called by main() of the app, of firesteel-offline and of the tests that need a whole window.
#pragma once

class QByteArray;
class QQmlApplicationEngine;
class QQuickWindow;

namespace firesteel::app {

class Application;

// Before the QGuiApplication is made.
void setUpProcess();
// After it.
void setUpLook();

// nullptr when the window could not be made; Qt has then logged why.
QQuickWindow *openWindow(QQmlApplicationEngine &qml, Application &application);
// To the front, out of the dock too. activationToken: the desktop's permission, may be empty.
void raiseWindow(QQuickWindow &window, const QByteArray &activationToken);

} // namespace firesteel::app
