// SPDX-License-Identifier: MIT
//
// A heading of an answer, level 1 to 6.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string html
    required property int level

    gap: Theme.step * (level < 3 ? 6 : 5)

    ReadingText {
        width: parent.width
        html: root.html
        find: root.find
        row: root.index
        rightToLeft: root.rightToLeft
        lineHeight: 1.3
        font.weight: Font.DemiBold
        font.pixelSize: Theme.readingSize + Math.max(0, 3 - root.level) * 3

        Accessible.role: Accessible.Heading
    }
}
