// SPDX-License-Identifier: MIT
//
// A column that scrolls, and keeps whatever has the keyboard in sight.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.Ui

Flickable {
    id: root

    default property alias content: column.data
    property alias spacing: column.spacing
    property int margin: Theme.step * 4
    property real side: 0 // free on both sides of the column; the scroll bar stays at the edge
    readonly property Item focused: Window.activeFocusItem

    function isInside(item: Item): bool {
        for (let up = item; up; up = up.parent) {
            if (up === column)
                return true;
        }
        return false;
    }

    implicitHeight: column.implicitHeight
    contentHeight: column.implicitHeight
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    ScrollBar.vertical: ThinScrollBar {}
    onFocusedChanged: {
        if (!focused || !isInside(focused))
            return;
        const top = focused.mapToItem(column, 0, 0).y - margin;
        const bottom = top + Math.min(focused.height, height) + margin * 2;
        if (top < contentY)
            contentY = Math.max(0, top);
        else if (bottom > contentY + height)
            contentY = Math.max(0, Math.min(bottom - height, contentHeight - height));
    }

    ColumnLayout {
        id: column

        x: root.side
        width: root.width - 2 * root.side - (root.contentHeight > root.height ? Math.max(0, Theme.step * 3 - root.side) : 0)
    }
}
