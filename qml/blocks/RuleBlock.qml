// SPDX-License-Identifier: MIT
//
// A thematic break.
import QtQuick
import Firesteel.Ui

BlockItem {
    gap: Theme.step * 5

    Rectangle {
        width: parent.width
        height: 1
        color: Theme.line

        Accessible.role: Accessible.Separator
    }
}
