// SPDX-License-Identifier: MIT
//
// Which of sidebar and panel stand beside the chat at a width, and which open over it. The panel gives way first.
import QtQuick

QtObject {
    id: root

    property real width: 1280
    property bool sidebarWanted: true
    property bool panelWanted: false
    property real scale: 1

    readonly property int sidebarWidth: Math.round(260 * Math.min(scale, 1.3))
    readonly property int panelWidth: Math.round(260 * Math.min(scale, 1.3))
    readonly property int chatMinimum: Math.round(560 * scale)
    readonly property bool sidebarFits: width >= sidebarWidth + chatMinimum
    readonly property bool panelFits: width >= chatMinimum + panelWidth + (sidebarWanted ? sidebarWidth : 0)
    readonly property bool sidebarDocked: sidebarWanted && sidebarFits
    readonly property bool panelDocked: panelWanted && panelFits
}
