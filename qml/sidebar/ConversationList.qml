// SPDX-License-Identifier: MIT
//
// The conversations by day, with what can be done to each: open, rename, export, delete.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.App
import Firesteel.Ui

ListView {
    id: root

    required property ConversationListModel conversations

    signal opened(int row)
    signal renamed(int row, string title)
    signal exportRequested(string conversationId, string title, string suffix)
    signal deleted(int row)

    function openMenu(row: int) {
        currentIndex = row;
        menu.row = row;
        menu.popup();
    }

    // Under its row, wherever the mouse is.
    function openMenuByKeyboard() {
        if (currentItem === null)
            return;
        menu.row = currentIndex;
        menu.byKeyboard = true;
        menu.popup(currentItem, Theme.step * 4, currentItem.height);
    }

    objectName: "conversationList"
    clip: true
    model: conversations
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
        current: ListView.isCurrentItem && root.activeFocus
        onOpened: root.opened(index)
        onRenamed: text => root.renamed(index, text)
        onDeleted: root.deleted(index)
        onMenuRequested: root.openMenu(index)
    }

    Keys.onReturnPressed: root.opened(currentIndex)
    Keys.onEnterPressed: root.opened(currentIndex)
    Keys.onMenuPressed: root.openMenuByKeyboard()
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

    PopupMenu {
        id: menu

        property int row: -1
        readonly property ConversationRow item: root.itemAtIndex(row) as ConversationRow

        objectName: "conversationMenu"

        MenuEntry {
            text: qsTr("Rename")
            note: qsTr("F2")
            enabled: menu.item !== null
            onTriggered: menu.item.startRename()
        }
        MenuEntry {
            text: qsTr("Export as Markdown…")
            enabled: menu.item !== null
            onTriggered: root.exportRequested(menu.item.conversationId, menu.item.title, "md")
        }
        MenuEntry {
            text: qsTr("Export as JSON…")
            enabled: menu.item !== null
            onTriggered: root.exportRequested(menu.item.conversationId, menu.item.title, "json")
        }
        MenuEntry {
            text: qsTr("Delete")
            onTriggered: root.deleted(menu.row)
        }
    }

    UiText {
        anchors.fill: parent
        anchors.margins: Theme.step * 4
        visible: root.count === 0
        color: Theme.dim
        text: qsTr("No chats yet. Write a message to start one.")
        wrapMode: Text.Wrap
        verticalAlignment: Text.AlignTop
    }
}
