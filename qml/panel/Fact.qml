// SPDX-License-Identifier: MIT
//
// A named figure of the panel.
import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string name
    required property string value

    Layout.fillWidth: true
    Layout.topMargin: Theme.step * 3
    spacing: 2

    Accessible.role: Accessible.StaticText
    Accessible.name: name + ": " + value

    UiText {
        text: root.name
        color: Theme.dim
        font.pixelSize: Theme.smallSize
    }
    UiText {
        Layout.fillWidth: true
        text: root.value
    }
}
