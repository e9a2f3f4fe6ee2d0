// SPDX-License-Identifier: MIT
//
// A one-line text field in the window's colours.
import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

TextField {
    id: root

    implicitHeight: Theme.controlHeight - Theme.step
    leftPadding: Theme.step * 2
    rightPadding: Theme.step * 2
    topPadding: 0
    bottomPadding: 0
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    font.family: Theme.sans
    font.pixelSize: Theme.uiSize
    selectByMouse: true

    background: Rectangle {
        radius: Theme.radius - 2
        color: Theme.page
        border.width: root.activeFocus ? 2 : 1
        border.color: root.activeFocus ? Theme.accent : Theme.line
    }
}
