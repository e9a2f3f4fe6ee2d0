// SPDX-License-Identifier: MIT
//
// The first paragraph of a list item, with its marker before it: a bullet, a number or a task box.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string html
    required property string marker

    gap: Theme.step * 1.5

    ReadingText {
        id: label

        width: parent.width
        html: root.html
        find: root.find
        row: root.index
        rightToLeft: root.rightToLeft
        color: root.quoteDepth > 0 ? Theme.dim : Theme.text

        Accessible.role: Accessible.ListItem

        ReadingText {
            x: root.rightToLeft ? label.width + Theme.step * 2 : -implicitWidth - Theme.step * 2
            html: root.marker
            color: Theme.dim
            selectByMouse: false
            activeFocusOnPress: false
            wrapMode: TextEdit.NoWrap
            Accessible.ignored: true
        }
    }
}
