// SPDX-License-Identifier: MIT
//
// The conversation as a list of blocks in a reading column. Only what is near the window exists as items.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property ConversationController conversation
    property bool showStatistics: true
    property bool modelFailed: false
    readonly property alias following: follower.following
    readonly property alias count: view.count

    signal errorActionChosen(string action)

    function firstVisibleRow(): int {
        return Math.max(0, view.indexAt(view.width / 2, view.contentY));
    }

    // Brings the place in the item into sight, with room above and below.
    function reveal(item: Item, place: rect) {
        const top = item.mapToItem(view.contentItem, place.x, place.y).y;
        const room = Math.min(Theme.step * 20, view.height / 4);
        if (top < view.contentY + room)
            follower.scrollBy(top - room - view.contentY);
        else if (top + place.height > view.contentY + view.height - room)
            follower.scrollBy(top + place.height + room - view.contentY - view.height);
    }

    Connections {
        function onRevealRequested(row: int) {
            follower.following = false;
            view.positionViewAtIndex(row, ListView.Contain);
        }

        function onPlaced(item: Item, place: rect) {
            root.reveal(item, place);
        }

        target: root.conversation.find
    }

    function jumpToEnd() {
        follower.resume();
    }

    function showRow(row: int) {
        follower.following = false;
        view.positionViewAtIndex(row, ListView.Beginning);
        follower.moved();
        if (follower.following) // near the end: all of it
            follower.schedule();
    }

    // The version that was switched to ends at this row.
    function showVersion(row: int) {
        if (!follower.following)
            view.positionViewAtIndex(row, ListView.Contain);
        if (view.keyboardStep !== 0)
            Qt.callLater(root.focusVersions, row, view.keyboardStep);
        view.keyboardStep = 0;
    }

    function focusVersions(row: int, step: int) {
        view.forceLayout();
        const block = view.itemAtIndex(row) as BlockItem;
        if (block)
            block.versionsFocusRequested(step);
    }

    ListView {
        id: view

        property int hoveredMessage: -1
        property int keyboardStep: 0 // between versions, until it is done

        objectName: "messageList"
        anchors.fill: parent
        focus: true
        activeFocusOnTab: true
        model: root.conversation.blocks
        reuseItems: true
        cacheBuffer: Math.round(height)
        boundsBehavior: Flickable.StopAtBounds
        bottomMargin: Theme.step * 6
        clip: true
        keyNavigationEnabled: false
        highlightFollowsCurrentItem: false
        currentIndex: -1
        ScrollBar.vertical: ThinScrollBar {
            onPressedChanged: {
                if (pressed)
                    follower.following = false;
                else
                    follower.moved();
            }
        }
        delegate: BlockChooser {
            conversation: root.conversation
            hoveredMessage: view.hoveredMessage
            showStatistics: root.showStatistics
            modelFailed: root.modelFailed
            onErrorActionChosen: action => root.errorActionChosen(action)
            onVersionStepped: (row, step, byKeyboard) => {
                view.keyboardStep = byKeyboard ? step : 0;
                root.conversation.switchVersion(row, step);
            }
        }

        Keys.onUpPressed: follower.scrollBy(-Theme.step * 15)
        Keys.onDownPressed: follower.scrollBy(Theme.step * 15)
        Keys.onPressed: event => {
            const page = height * 0.9;
            const steps = {
                [Qt.Key_PageUp]: -page,
                [Qt.Key_PageDown]: page,
                [Qt.Key_Space]: page
            };
            if (event.key === Qt.Key_End)
                follower.resume();
            else if (event.key === Qt.Key_Home)
                follower.scrollBy(-contentHeight);
            else if (event.key in steps)
                follower.scrollBy(steps[event.key]);
            else
                return;
            event.accepted = true;
        }

        HoverHandler {
            id: hover

            onPointChanged: {
                const spot = hover.point.position;
                const item = view.itemAt(view.contentX + spot.x, view.contentY + spot.y) as BlockItem;
                view.hoveredMessage = hover.hovered && item ? item.messageIndex : -1;
            }
        }

        EndFollower {
            id: follower

            view: view
        }

        Accessible.role: Accessible.List
        Accessible.name: qsTr("Messages")
    }

    IconButton {
        id: jump

        objectName: "jumpToLatest"
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.step * 3
        visible: !follower.following && view.contentHeight > view.height
        symbol: "arrow-down"
        hint: qsTr("Jump to latest")
        fill: Theme.surface
        onClicked: root.jumpToEnd()
    }
}
