// SPDX-License-Identifier: MIT
//
// What an answer waits for: its turn, or the prompt being read.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string text

    gap: Theme.step * 4

    Row {
        height: Theme.controlHeight
        spacing: Theme.step * 2

        LiveDot {
            anchors.verticalCenter: parent.verticalCenter
        }
        UiText {
            anchors.verticalCenter: parent.verticalCenter
            text: root.text
            color: Theme.dim
        }
    }

    Accessible.role: Accessible.StaticText
    Accessible.name: text
}
