// SPDX-License-Identifier: MIT
//
// A paragraph of an answer, or of a quotation in it.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string html

    ReadingText {
        width: parent.width
        html: root.html
        find: root.find
        row: root.index
        rightToLeft: root.rightToLeft
        color: root.quoteDepth > 0 ? Theme.dim : Theme.text
    }
}
