// SPDX-License-Identifier: MIT
//
// A conversation that a search found: its title and the line where the words stand.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

ItemDelegate {
    id: root

    required property int index
    required property string title
    required property string titleHtml
    required property string excerptHtml
    property bool current: false // has the list's keyboard focus

    signal opened

    leftPadding: Theme.step * 4
    rightPadding: Theme.step * 4
    topPadding: Theme.step * 2
    bottomPadding: Theme.step * 2
    focusPolicy: Qt.NoFocus
    activeFocusOnTab: false
    onClicked: opened()

    background: Item {
        Rectangle {
            anchors.fill: parent
            anchors.leftMargin: Theme.step * 2
            anchors.rightMargin: Theme.step * 2
            anchors.topMargin: 1
            anchors.bottomMargin: 1
            radius: Theme.radius
            color: root.hovered ? Theme.hover : "transparent"
            border.width: root.current ? 2 : 0
            border.color: Theme.accent
        }
    }

    contentItem: Column {
        spacing: 2

        UiText {
            width: parent.width
            text: root.titleHtml
            textFormat: Text.StyledText
        }
        UiText {
            width: parent.width
            visible: text !== ""
            text: root.excerptHtml
            textFormat: Text.StyledText
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            maximumLineCount: 2
        }
    }

    Accessible.role: Accessible.ListItem
    Accessible.name: title
    Accessible.onPressAction: opened()
}
