// SPDX-License-Identifier: MIT
//
// Keeps a list at its end while new rows arrive, but only while the reader is there: any scrolling up releases it, coming
// back to the end (or resume()) takes it up again. Also keeps the reader's place when the width changes.
import QtQuick

Item {
    id: root

    required property ListView view
    property bool following: true
    readonly property real slack: 24 // pixels from the end that still count as the end
    property bool _scheduled: false
    property int _anchorIndex: -1 // the row at the top while the reader is above the end
    property real _anchorShare: 0 // of that row, above the top

    function distanceToEnd(): real {
        return view.originY + view.contentHeight + view.bottomMargin - view.height - view.contentY;
    }

    function isAtEnd(): bool {
        return distanceToEnd() <= slack;
    }

    // The reader moved the view.
    function moved() {
        following = isAtEnd();
        const item = view.itemAt(view.width / 2, view.contentY);
        _anchorIndex = following || !item ? -1 : view.indexAt(view.width / 2, view.contentY);
        _anchorShare = item ? (view.contentY - item.y) / item.height : 0;
    }

    // Rows have new heights: the row that was at the top goes back there.
    function returnToAnchor() {
        if (following || _anchorIndex < 0 || _anchorIndex >= view.count)
            return;
        view.forceLayout();
        view.positionViewAtIndex(_anchorIndex, ListView.Beginning);
        const item = view.itemAtIndex(_anchorIndex);
        if (item)
            view.contentY = item.y + _anchorShare * item.height;
    }

    function scrollBy(pixels: real) {
        const first = view.originY - view.topMargin;
        const last = Math.max(first, view.contentY + distanceToEnd());
        view.contentY = Math.max(first, Math.min(last, view.contentY + pixels));
        moved();
    }

    function resume() {
        following = true;
        schedule();
    }

    function schedule() {
        if (_scheduled)
            return;
        _scheduled = true;
        Qt.callLater(settle);
    }

    function settle() {
        _scheduled = false;
        if (!following || view.moving || view.count === 0)
            return;
        view.positionViewAtEnd();
        const rest = distanceToEnd();
        if (Math.abs(rest) > 0.5 && view.contentHeight > view.height)
            view.contentY += rest;
    }

    Connections {
        function onContentHeightChanged() {
            root.schedule();
        }

        function onHeightChanged() {
            root.schedule();
        }

        function onWidthChanged() {
            Qt.callLater(root.returnToAnchor);
        }

        function onMovementStarted() {
            root.following = false;
        }

        function onMovementEnded() {
            root.moved();
        }

        target: root.view
    }
}
