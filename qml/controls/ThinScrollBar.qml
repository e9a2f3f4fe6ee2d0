// SPDX-License-Identifier: MIT
//
// A scroll bar that takes little room and gets wider under the pointer.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

ScrollBar {
    id: root

    readonly property bool wide: hovered || pressed

    padding: 2
    minimumSize: 0.06
    policy: size < 1 ? ScrollBar.AlwaysOn : ScrollBar.AlwaysOff

    contentItem: Rectangle {
        implicitWidth: 8
        implicitHeight: 8
        radius: 4
        color: root.wide ? Theme.dim : Theme.line
    }
    background: null
}
