// SPDX-License-Identifier: MIT
//
// One model: what it is, where it stands, and what can be done with it now.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    required property int index
    required property string name
    required property string creator
    required property string description
    required property string license
    required property string stateText
    required property string problem
    required property string detail
    required property string action
    required property string progressText
    required property real fraction
    required property bool busy
    required property string folder
    required property string consent
    required property bool canDownload
    required property bool canPause
    required property bool canResume
    required property bool canCancel
    required property bool canUse
    required property bool inUse
    required property bool canRemove
    required property bool canWithdraw
    required property bool added

    signal reviewRequested
    signal pauseRequested
    signal resumeRequested
    signal cancelRequested
    signal useRequested
    signal removeRequested
    signal withdrawRequested
    signal actionChosen(string action)

    objectName: "modelCard" + index
    implicitHeight: column.implicitHeight + Theme.step * 8
    radius: Theme.cardRadius
    color: Theme.surface
    border.color: inUse ? Theme.accent : Theme.line

    Accessible.role: Accessible.ListItem
    Accessible.name: qsTr("%1, %2").arg(name).arg(stateText)
    Accessible.description: description

    ColumnLayout {
        id: column

        x: Theme.step * 4
        y: Theme.step * 4
        width: parent.width - Theme.step * 8
        spacing: Theme.step * 2

        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.step * 3

            UiText {
                Layout.fillWidth: true
                text: root.name
                font.weight: Font.DemiBold
                font.pixelSize: Theme.readingSize
            }
            UiText {
                visible: root.inUse
                text: qsTr("In use")
                color: Theme.accent
            }
            UiText {
                text: root.stateText
                color: Theme.dim
            }
        }
        UiText {
            Layout.fillWidth: true
            text: root.description
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        UiText {
            Layout.fillWidth: true
            visible: text !== ""
            text: [root.creator, root.license, root.consent].filter(part => part !== "").join(" · ")
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }

        Rectangle {
            objectName: "progressBar"
            Layout.fillWidth: true
            implicitHeight: Theme.step
            visible: root.busy
            radius: 2
            color: Theme.line

            Rectangle {
                width: parent.width * Math.max(0, Math.min(1, root.fraction))
                height: parent.height
                radius: 2
                color: root.canPause ? Theme.accent : Theme.dim
            }

            Accessible.role: Accessible.ProgressBar
            Accessible.name: qsTr("Progress of %1: %2").arg(root.name).arg(root.progressText)
        }
        UiText {
            Layout.fillWidth: true
            visible: text !== ""
            text: root.progressText
            color: Theme.dim
        }

        RowLayout {
            Layout.fillWidth: true
            visible: root.problem !== ""
            spacing: Theme.step * 2

            Icon {
                Layout.alignment: Qt.AlignTop
                Layout.topMargin: 2
                symbol: "warning"
                color: root.action !== "" || !root.canPause ? Theme.bad : Theme.warn
            }
            UiText {
                objectName: "problemText"
                Layout.fillWidth: true
                text: root.detail === "" ? root.problem : qsTr("%1 (%2)").arg(root.problem).arg(root.detail)
                wrapMode: Text.Wrap
                elide: Text.ElideNone

                Accessible.role: Accessible.AlertMessage
                Accessible.name: text
            }
        }

        Flow {
            Layout.fillWidth: true
            spacing: Theme.step * 2

            TextButton {
                objectName: "downloadButton"
                visible: root.canDownload
                primary: true
                text: qsTr("Licence and download…")
                onClicked: root.reviewRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "useButton"
                visible: root.canUse
                primary: true
                text: qsTr("Use this model")
                onClicked: root.useRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "actionButton"
                visible: root.action === "token" || root.action === "page" || (root.action === "license" && !root.canDownload)
                primary: true
                text: root.action === "token" ? qsTr("Add an access token…") : root.action === "page" ? qsTr("Open the model's page") : qsTr("Read the licence…")
                onClicked: root.actionChosen(root.action)
                Accessible.description: root.name
            }
            TextButton {
                objectName: "pauseButton"
                visible: root.canPause
                text: qsTr("Pause")
                onClicked: root.pauseRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "resumeButton"
                visible: root.canResume
                text: root.problem !== "" ? qsTr("Try again") : qsTr("Go on")
                onClicked: root.resumeRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "cancelButton"
                visible: root.canCancel
                flat: true
                text: qsTr("Cancel…")
                onClicked: root.cancelRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "licenseButton"
                visible: root.consent !== "" && !root.canDownload
                flat: true
                text: qsTr("Licence…")
                onClicked: root.reviewRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "removeButton"
                visible: root.canRemove
                flat: true
                text: root.added ? qsTr("Remove from the list") : qsTr("Delete…")
                onClicked: root.removeRequested()
                Accessible.description: root.name
            }
            TextButton {
                objectName: "withdrawButton"
                visible: root.canWithdraw
                flat: true
                text: qsTr("Withdraw consent…")
                onClicked: root.withdrawRequested()
                Accessible.description: root.name
            }
        }
    }
}
