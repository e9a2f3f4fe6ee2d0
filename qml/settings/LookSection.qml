// SPDX-License-Identifier: MIT
//
// How the window looks and is drawn.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property AppSettings settings

    spacing: Theme.step * 5

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Appearance")
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Theme")

        ChoiceRow {
            objectName: "appearanceChoice"
            name: qsTr("Theme")
            choices: [qsTr("As the system"), qsTr("Light"), qsTr("Dark")]
            current: root.settings.appearance
            onPicked: choice => root.settings.appearance = choice
        }
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Text size")
        hint: qsTr("Ctrl++ and Ctrl+- change it anywhere, Ctrl+0 sets it back.")

        SliderBar {
            objectName: "textSizeSlider"
            name: qsTr("Text size")
            from: 0.7
            to: 2.5
            stepSize: 0.1
            value: root.settings.fontScale
            onMoved: root.settings.fontScale = Math.round(value * 10) / 10
        }
        UiText {
            Layout.minimumWidth: percent.advanceWidth
            horizontalAlignment: Text.AlignRight
            text: qsTr("%1 %").arg(Math.round(root.settings.fontScale * 100))

            TextMetrics {
                id: percent

                font.family: Theme.sans
                font.pixelSize: Theme.uiSize
                text: qsTr("%1 %").arg(888)
            }
        }
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Reduced motion")
        hint: qsTr("Nothing moves or pulses.")

        Toggle {
            objectName: "reducedMotionToggle"
            name: qsTr("Reduced motion")
            checked: root.settings.reducedMotion
            onToggled: root.settings.reducedMotion = checked
        }
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Speed under each answer")
        hint: qsTr("Tokens per second, time to the first token, length.")

        Toggle {
            objectName: "statisticsToggle"
            name: qsTr("Speed under each answer")
            checked: root.settings.showStatistics
            onToggled: root.settings.showStatistics = checked
        }
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Renderer")
        hint: qsTr("Software draws without the graphics driver: slower, for remote sessions and broken drivers.")
        note: root.settings.rendererWaiting ? qsTr("Takes effect when Firesteel is started again.") : ""

        ChoiceRow {
            objectName: "rendererChoice"
            name: qsTr("Renderer")
            choices: [qsTr("Hardware"), qsTr("Software")]
            current: root.settings.renderer
            onPicked: choice => root.settings.renderer = choice
        }
    }
}
