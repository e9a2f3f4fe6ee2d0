// SPDX-License-Identifier: MIT
//
// A request that runs or waits: who asked, how far it is, and its stop button.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

RowLayout {
    id: root

    required property int index
    required property string source
    required property string progress

    signal stopped(int row)

    spacing: Theme.step

    ColumnLayout {
        Layout.fillWidth: true
        spacing: 0

        Accessible.role: Accessible.StaticText
        Accessible.name: root.source + ", " + root.progress

        UiText {
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            text: root.source
        }
        UiText {
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            text: root.progress
            color: Theme.dim
            font.pixelSize: Theme.smallSize
        }
    }
    IconButton {
        objectName: "stopRequest"
        symbol: "stop"
        hint: qsTr("Stop the request of %1").arg(root.source)
        onClicked: root.stopped(root.index)
    }
}
