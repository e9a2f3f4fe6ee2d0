// SPDX-License-Identifier: MIT
//
// Brings the window back to the size it was left with, if a screen still holds it, and stores what it changes to.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App

Item {
    id: root

    required property Window window
    required property AppSettings settings
    property bool _restored: false

    function restore() {
        const old = settings.windowGeometry;
        if (old.width > 0 && old.height > 0) {
            window.width = Math.min(old.width, Screen.desktopAvailableWidth);
            window.height = Math.min(old.height, Screen.desktopAvailableHeight);
        }
        if (settings.windowMaximized)
            window.showMaximized();
        else
            window.show();
        _restored = true;
    }

    function store() {
        if (!_restored)
            return;
        settings.windowMaximized = window.visibility === Window.Maximized;
        if (window.visibility === Window.Windowed)
            settings.windowGeometry = Qt.rect(window.x, window.y, window.width, window.height);
    }

    Component.onCompleted: restore()

    Timer {
        id: later

        interval: 400
        onTriggered: root.store()
    }

    Connections {
        function onWidthChanged() {
            later.restart();
        }

        function onHeightChanged() {
            later.restart();
        }

        function onVisibilityChanged() {
            later.restart();
        }

        function onClosing() {
            root.store();
        }

        target: root.window
    }
}
