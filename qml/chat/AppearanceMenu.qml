// SPDX-License-Identifier: MIT
//
// Light, dark or as the system, the text size, and what else changes how the window looks.
import QtQuick
import Firesteel.App
import Firesteel.Ui

PopupMenu {
    id: root

    required property AppSettings settings

    objectName: "appearanceMenu"

    MenuEntry {
        text: qsTr("As the system")
        checkable: true
        checked: root.settings.appearance === AppSettings.System
        onTriggered: root.settings.appearance = AppSettings.System
    }
    MenuEntry {
        text: qsTr("Light")
        checkable: true
        checked: root.settings.appearance === AppSettings.Light
        onTriggered: root.settings.appearance = AppSettings.Light
    }
    MenuEntry {
        text: qsTr("Dark")
        checkable: true
        checked: root.settings.appearance === AppSettings.Dark
        onTriggered: root.settings.appearance = AppSettings.Dark
    }
    MenuLine {}
    MenuEntry {
        text: qsTr("Larger text")
        note: qsTr("Ctrl++")
        enabled: root.settings.fontScale < 2.5
        onTriggered: root.settings.fontScale += 0.1
    }
    MenuEntry {
        text: qsTr("Smaller text")
        note: qsTr("Ctrl+-")
        enabled: root.settings.fontScale > 0.7
        onTriggered: root.settings.fontScale -= 0.1
    }
    MenuLine {}
    MenuEntry {
        text: qsTr("Speed under each answer")
        checkable: true
        checked: root.settings.showStatistics
        onTriggered: root.settings.showStatistics = !root.settings.showStatistics
    }
    MenuEntry {
        text: qsTr("Reduced motion")
        checkable: true
        checked: root.settings.reducedMotion
        onTriggered: root.settings.reducedMotion = !root.settings.reducedMotion
    }
}
