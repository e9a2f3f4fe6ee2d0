// SPDX-License-Identifier: MIT
//
// The outline of whatever has the keyboard. Fills the background it is put into.
import QtQuick
import QtQuick.Templates as T
import Firesteel.Ui

Rectangle {
    id: root

    required property T.Control control

    anchors.fill: parent
    anchors.margins: -2
    visible: control.visualFocus
    color: "transparent"
    radius: Theme.radius + 2
    border.width: 2
    border.color: Theme.accent
}
