// SPDX-License-Identifier: MIT
//
// The list of conversations: new, open, rename, delete with undo. Shown docked or in a drawer by Main.qml.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    required property ConversationListModel conversations
    property bool canUndo: false
    property string deletedTitle

    signal newRequested
    signal opened(int row)
    signal renamed(int row, string title)
    signal deleted(int row)
    signal undone

    color: Theme.surface

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Chats")

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        TextButton {
            id: newButton

            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            text: qsTr("New chat")
            symbol: "plus"
            onClicked: root.newRequested()

            Tip {
                text: qsTr("Start a new chat (Ctrl+N)")
                visible: newButton.hovered
            }
        }

        ListView {
            id: list

            objectName: "conversationList"
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            model: root.conversations
            reuseItems: true
            boundsBehavior: Flickable.StopAtBounds
            activeFocusOnTab: true
            keyNavigationEnabled: true
            highlightMoveDuration: 0
            currentIndex: -1
            section.property: "section"
            section.delegate: SectionHeader {}
            ScrollBar.vertical: ThinScrollBar {}
            delegate: ConversationRow {
                width: ListView.view.width
                current: ListView.isCurrentItem && list.activeFocus
                onOpened: root.opened(index)
                onRenamed: text => root.renamed(index, text)
                onDeleted: root.deleted(index)
            }

            Keys.onReturnPressed: root.opened(currentIndex)
            Keys.onEnterPressed: root.opened(currentIndex)
            Keys.onPressed: event => {
                if (event.key === Qt.Key_F2 && currentItem) {
                    (currentItem as ConversationRow).startRename();
                    event.accepted = true;
                }
            }
            onActiveFocusChanged: {
                if (activeFocus && currentIndex < 0)
                    currentIndex = 0;
            }

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Chats")

            UiText {
                anchors.fill: parent
                anchors.margins: Theme.step * 4
                visible: list.count === 0
                color: Theme.dim
                text: qsTr("No chats yet. Write a message to start one.")
                wrapMode: Text.Wrap
                verticalAlignment: Text.AlignTop
            }
        }

        UndoBar {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            available: root.canUndo
            deletedTitle: root.deletedTitle
            onUndone: root.undone()
        }
    }

    Rectangle {
        anchors.right: parent.right
        width: 1
        height: parent.height
        color: Theme.line
    }
}
