// SPDX-License-Identifier: MIT
//
// Offers to bring the deleted conversation back, for as long as `available` says so.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    property bool available: false
    property string deletedTitle

    signal undone

    objectName: "undoBar"
    implicitHeight: Theme.controlHeight + Theme.step * 2
    visible: available
    radius: Theme.radius
    color: Theme.raised

    Accessible.role: Accessible.AlertMessage
    Accessible.name: qsTr("Deleted “%1”").arg(deletedTitle)

    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.step * 3
        anchors.rightMargin: Theme.step

        UiText {
            Layout.fillWidth: true
            text: qsTr("Deleted “%1”").arg(root.deletedTitle)
        }
        TextButton {
            objectName: "undoButton"
            flat: true
            text: qsTr("Undo")
            ink: Theme.accent
            onClicked: root.undone()
        }
    }
}
