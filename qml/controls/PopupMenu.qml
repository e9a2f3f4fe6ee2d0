// SPDX-License-Identifier: MIT
//
// A menu in the window's colours; its entries are MenuEntry.
import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Menu {
    id: root

    padding: Theme.step
    delegate: MenuEntry {}

    background: Rectangle {
        implicitWidth: 220
        color: Theme.surface
        border.color: Theme.line
        radius: Theme.radius
    }

    enter: null
    exit: null
}
