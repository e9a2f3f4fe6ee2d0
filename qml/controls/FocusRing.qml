// SPDX-License-Identifier: MIT
//
// The outline of whatever has the keyboard. Fills the background it is put into.
import QtQuick
import QtQuick.Templates as T
import Firesteel.Ui

Rectangle {
    id: root

    required property T.Control control
    property bool apart: false // from a fill of its own colour
    readonly property int reach: apart ? 4 : 2

    anchors.fill: parent
    anchors.margins: -reach
    visible: control.visualFocus
    color: "transparent"
    radius: Theme.radius + reach
    border.width: 2
    border.color: Theme.accent
}
