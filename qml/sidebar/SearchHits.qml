// SPDX-License-Identifier: MIT
//
// What a search found, in place of the conversation list.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.App
import Firesteel.Ui

ListView {
    id: root

    required property ConversationSearchModel search

    signal opened(int row)

    objectName: "searchHits"
    clip: true
    model: search
    reuseItems: true
    boundsBehavior: Flickable.StopAtBounds
    activeFocusOnTab: true
    keyNavigationEnabled: true
    highlightMoveDuration: 0
    currentIndex: -1
    ScrollBar.vertical: ThinScrollBar {}
    delegate: SearchHitRow {
        width: ListView.view.width
        current: ListView.isCurrentItem && root.activeFocus
        onOpened: root.opened(index)
    }

    Keys.onReturnPressed: root.opened(currentIndex)
    Keys.onEnterPressed: root.opened(currentIndex)
    onActiveFocusChanged: {
        if (activeFocus && currentIndex < 0)
            currentIndex = 0;
    }

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Chats found")

    UiText {
        objectName: "noMatches"
        anchors.fill: parent
        anchors.margins: Theme.step * 4
        visible: root.count === 0
        color: Theme.dim
        text: root.search.searching ? qsTr("Searching…") : qsTr("No chat has these words. Every word must occur in one message or title.")
        wrapMode: Text.Wrap
        elide: Text.ElideNone
        verticalAlignment: Text.AlignTop
    }
}
