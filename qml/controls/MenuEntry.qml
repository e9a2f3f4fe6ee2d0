// SPDX-License-Identifier: MIT
//
// One line of a PopupMenu: words, a dim note under them, a tick when checked.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

MenuItem {
    id: root

    property string note

    padding: 0
    leftPadding: Theme.step * 3
    rightPadding: Theme.step * 3
    topPadding: Theme.step * 1.5
    bottomPadding: Theme.step * 1.5

    indicator: null
    arrow: null
    contentItem: Row {
        spacing: Theme.step * 2

        Icon {
            anchors.verticalCenter: parent.verticalCenter
            symbol: "check"
            color: Theme.accent
            opacity: root.checked ? 1 : 0
        }
        Column {
            anchors.verticalCenter: parent.verticalCenter

            UiText {
                text: root.text
            }
            UiText {
                text: root.note
                visible: text !== ""
                color: Theme.dim
                font.pixelSize: Theme.smallSize
            }
        }
    }
    background: Rectangle {
        radius: Theme.radius - 2
        color: root.highlighted ? Theme.hover : "transparent"
    }

    Accessible.name: text
    Accessible.description: note
}
