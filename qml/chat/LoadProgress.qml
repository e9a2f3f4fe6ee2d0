// SPDX-License-Identifier: MIT
//
// A stage in words and how far it has come, with a way to stop it where there is one.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string words
    property real fraction: 0
    property bool determinate: true
    property bool stoppable: false

    signal stopped

    objectName: "loadProgress"
    spacing: Theme.step * 3

    Accessible.role: Accessible.ProgressBar
    Accessible.name: words

    Row {
        Layout.alignment: Qt.AlignHCenter
        spacing: Theme.step * 2

        LiveDot {
            anchors.verticalCenter: parent.verticalCenter
        }
        UiText {
            text: root.determinate ? qsTr("%1 · %2 %").arg(root.words).arg(Math.floor(root.fraction * 100)) : root.words
            color: Theme.dim
        }
    }
    Rectangle {
        Layout.alignment: Qt.AlignHCenter
        implicitWidth: Math.min(320, root.width)
        implicitHeight: Theme.step
        visible: root.determinate
        radius: 2
        color: Theme.line

        Rectangle {
            width: parent.width * Math.max(0, Math.min(1, root.fraction))
            height: parent.height
            radius: 2
            color: Theme.accent
        }
    }
    TextButton {
        objectName: "stopLoading"
        Layout.alignment: Qt.AlignHCenter
        visible: root.stoppable
        text: qsTr("Stop loading")
        onClicked: root.stopped()

        Accessible.name: text
    }
}
