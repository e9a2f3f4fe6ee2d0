// SPDX-License-Identifier: MIT
//
// One conversation in the list. Its actions appear under the pointer and with the keyboard, over the end of the title.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

ItemDelegate {
    id: root

    required property int index
    required property string conversationId
    required property string title
    required property bool active
    required property bool busy
    property bool current: false // has the list's keyboard focus
    property bool renaming: false
    readonly property bool actionsShown: !renaming && (hovered || current || renameButton.activeFocus || deleteButton.activeFocus)

    signal opened
    signal renamed(string text)
    signal deleted
    signal menuRequested

    function startRename() {
        renaming = true;
        field.text = title;
        field.selectAll();
        field.forceActiveFocus();
    }

    function finishRename(keep: bool) {
        if (!renaming)
            return;
        renaming = false;
        const text = field.text.trim();
        if (keep && text !== "" && text !== title)
            renamed(text);
        ListView.view.forceActiveFocus();
    }

    height: Math.round(36 * Math.max(1, Theme.fontScale))
    leftPadding: Theme.step * 4
    rightPadding: Theme.step * 2
    topPadding: 0
    bottomPadding: 0
    focusPolicy: Qt.NoFocus
    activeFocusOnTab: false
    onClicked: opened()
    onDoubleClicked: startRename()
    ListView.onPooled: renaming = false

    TapHandler {
        acceptedButtons: Qt.RightButton
        onTapped: root.menuRequested()
    }

    background: Item {
        Rectangle {
            anchors.fill: parent
            anchors.leftMargin: Theme.step * 2
            anchors.rightMargin: Theme.step * 2
            anchors.topMargin: 1
            anchors.bottomMargin: 1
            radius: Theme.radius
            color: root.active ? Theme.raised : root.hovered ? Theme.hover : "transparent"
            border.width: root.current ? 2 : 0
            border.color: Theme.accent
        }
    }

    contentItem: Item {
        UiText {
            id: label

            anchors.verticalCenter: parent.verticalCenter
            width: parent.width - (root.actionsShown ? actions.width : root.busy ? dot.width + Theme.step * 3 : Theme.step * 2)
            visible: !root.renaming
            text: root.title
            font.weight: root.active ? Font.DemiBold : Font.Normal
        }

        LiveDot {
            id: dot

            anchors.right: parent.right
            anchors.rightMargin: Theme.step * 2
            anchors.verticalCenter: parent.verticalCenter
            visible: root.busy && !root.actionsShown
        }

        Row {
            id: actions

            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            opacity: root.actionsShown ? 1 : 0

            IconButton {
                id: renameButton

                symbol: "rename"
                hint: qsTr("Rename this chat")
                size: Theme.controlHeight - Theme.step
                focusPolicy: root.current || activeFocus ? Qt.StrongFocus : Qt.NoFocus
                onClicked: root.startRename()
            }
            IconButton {
                id: deleteButton

                symbol: "delete"
                hint: qsTr("Delete this chat")
                size: Theme.controlHeight - Theme.step
                focusPolicy: root.current || activeFocus || renameButton.activeFocus ? Qt.StrongFocus : Qt.NoFocus
                onClicked: root.deleted()
            }
        }

        Field {
            id: field

            anchors.verticalCenter: parent.verticalCenter
            width: parent.width
            visible: root.renaming
            onActiveFocusChanged: {
                if (!activeFocus)
                    root.finishRename(true);
            }
            // Not onAccepted: the key would go on to the list and open the conversation.
            Keys.onReturnPressed: root.finishRename(true)
            Keys.onEnterPressed: root.finishRename(true)
            Keys.onEscapePressed: root.finishRename(false)

            Accessible.name: qsTr("Title of the chat")
        }
    }

    Accessible.role: Accessible.ListItem
    Accessible.name: busy ? qsTr("%1, answering").arg(title) : title
    Accessible.onPressAction: opened()
}
