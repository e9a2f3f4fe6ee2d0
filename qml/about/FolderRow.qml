// SPDX-License-Identifier: MIT
//
// A folder of this program, and a button that opens it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

RowLayout {
    id: root

    required property string name
    required property string folder

    signal opened

    Layout.fillWidth: true
    spacing: Theme.step * 3

    ColumnLayout {
        Layout.fillWidth: true
        spacing: 0

        UiText {
            Layout.fillWidth: true
            text: root.name
        }
        UiText {
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            text: root.folder
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            elide: Text.ElideMiddle
        }
    }
    TextButton {
        text: qsTr("Open")
        onClicked: root.opened()

        Accessible.name: qsTr("Open the folder: %1").arg(root.name)
    }
}
