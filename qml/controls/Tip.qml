// SPDX-License-Identifier: MIT
//
// A tool tip in the window's colours.
import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

ToolTip {
    id: root

    delay: 500
    padding: Theme.step * 1.5
    leftPadding: Theme.step * 2
    rightPadding: Theme.step * 2

    contentItem: Text {
        text: root.text
        color: Theme.text
        font.family: Theme.sans
        font.pixelSize: Theme.smallSize
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
    }
    background: Rectangle {
        color: Theme.raised
        border.color: Theme.line
        radius: Theme.radius
    }
}
