// SPDX-License-Identifier: MIT
//
// What every block of the message view has in common: it is a row of the list, set in the reading column under a gap, moved
// in by the lists and quotations around it.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

Item {
    id: root

    required property int index
    required property int messageIndex
    required property int indent
    required property int quoteDepth
    required property int direction
    property real gap: Theme.step * 3
    property ChatFind find: null // what is looked for in the conversation
    default property alias content: column.data

    signal versionsFocusRequested(int step) // after a step between versions by keyboard

    readonly property bool rightToLeft: direction === MessageBlockModel.RightToLeft
    readonly property int inset: indent * Theme.listIndent + quoteDepth * Theme.quoteIndent
    readonly property real pageWidth: Math.min(Theme.columnWidth, width - Theme.step * 10)
    readonly property real pageX: Math.round((width - pageWidth) / 2)

    width: ListView.view ? ListView.view.width : Theme.columnWidth
    height: column.height + gap

    Column {
        id: column

        x: root.pageX + (root.rightToLeft ? 0 : root.inset)
        y: root.gap
        width: root.pageWidth - root.inset
    }

    Repeater {
        model: root.quoteDepth

        Rectangle {
            required property int index

            readonly property real offset: (index + root.indent) * Theme.quoteIndent

            x: root.rightToLeft ? root.pageX + root.pageWidth - offset - width : root.pageX + offset
            y: root.gap
            width: 3
            height: column.height
            radius: 1.5
            color: Theme.line
        }
    }
}
