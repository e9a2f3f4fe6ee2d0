// SPDX-License-Identifier: MIT
//
// A menu in the window's colours; its entries are MenuEntry. Opened by keyboard it marks one at once: the chosen one, or the
// first.
import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Templates as T
import Firesteel.Ui

Menu {
    id: root

    property bool byKeyboard: false // set where another than its button opens it

    function markEntry() {
        let marked = -1;
        for (let row = count - 1; row >= 0; --row) {
            const entry = itemAt(row) as MenuItem;
            if (entry?.enabled && entry.visible && (entry.checked || !(itemAt(marked) as MenuItem)?.checked))
                marked = row;
        }
        currentIndex = marked;
    }

    padding: Theme.step
    delegate: MenuEntry {}

    background: Rectangle {
        implicitWidth: 220
        color: Theme.surface
        border.color: Theme.line
        radius: Theme.radius
    }

    // Before the menu takes the keyboard from its button.
    onVisibleChanged: byKeyboard = visible && (byKeyboard || (parent as T.AbstractButton)?.visualFocus === true)
    onOpened: if (byKeyboard)
        markEntry()

    enter: null
    exit: null
}
