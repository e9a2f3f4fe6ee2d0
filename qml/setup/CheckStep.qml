// SPDX-License-Identifier: MIT
//
// What this machine has beside what GLM-5.3-Flash needs, and what follows from it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property SetupController setup

    signal chatChosen

    spacing: Theme.step * 4

    StepHeading {
        Layout.fillWidth: true
        heading: qsTr("Can this machine run GLM-5.3-Flash?")
        words: qsTr("Everything runs on this computer, and nothing is sent anywhere.")
    }
    Repeater {
        model: root.setup.checks

        RowLayout {
            id: line

            required property machineCheck modelData

            objectName: "machineCheck"
            Layout.fillWidth: true
            spacing: Theme.step * 3

            Accessible.role: Accessible.ListItem
            Accessible.name: qsTr("%1: %2").arg(modelData.name).arg(modelData.found)
            Accessible.description: modelData.needed

            Icon {
                Layout.alignment: Qt.AlignTop
                Layout.topMargin: 2
                symbol: line.modelData.good ? "check" : "warning"
                color: line.modelData.good ? Theme.good : Theme.warn
            }
            UiText {
                Layout.alignment: Qt.AlignTop
                Layout.preferredWidth: Math.round(72 * Theme.fontScale)
                text: line.modelData.name
                font.weight: Font.DemiBold
            }
            ColumnLayout {
                Layout.fillWidth: true
                spacing: 2

                UiText {
                    Layout.fillWidth: true
                    text: line.modelData.found
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                UiText {
                    Layout.fillWidth: true
                    text: line.modelData.needed
                    color: Theme.dim
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
            }
        }
    }
    UiText {
        objectName: "setupVerdict"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.setup.verdict
        font.pixelSize: Theme.readingSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    Flow {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        TextButton {
            objectName: "setupChat"
            focus: true
            visible: root.setup.checks.length > 0 && !root.setup.capable
            primary: true
            text: qsTr("Chat with Glimmer")
            onClicked: root.chatChosen()
        }
        TextButton {
            objectName: "setupRecheck"
            enabled: !root.setup.checking
            text: qsTr("Check again")
            onClicked: root.setup.check()
        }
    }
}
