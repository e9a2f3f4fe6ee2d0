// SPDX-License-Identifier: MIT
//
// The line between groups of a PopupMenu.
import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

MenuSeparator {
    padding: 0
    topPadding: Theme.step
    bottomPadding: Theme.step

    contentItem: Rectangle {
        implicitHeight: 1
        color: Theme.line
    }
}
