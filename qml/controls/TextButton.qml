// SPDX-License-Identifier: MIT
//
// A button with words, optionally an icon before them. `primary` fills it with the accent.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Button {
    id: root

    property string symbol
    property bool primary: false
    property bool outlined: !primary && !flat
    property bool listed: false // one of several below each other: words at the beginning, not in the middle
    property color ink: primary ? Theme.accentText : Theme.text // of the words

    implicitHeight: Theme.controlHeight
    leftPadding: Theme.step * 3
    rightPadding: Theme.step * 3
    topPadding: 0
    bottomPadding: 0
    spacing: Theme.step * 2
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.45

    font.family: Theme.sans
    font.pixelSize: Theme.uiSize
    // The style takes the second for flat and the third for checked buttons.
    palette.buttonText: ink
    palette.windowText: ink
    palette.brightText: ink
    icon.source: symbol === "" ? "" : Theme.icon(symbol)
    icon.color: primary ? Theme.accentText : Theme.dim
    icon.width: Math.round(16 * Theme.fontScale)
    icon.height: Math.round(16 * Theme.fontScale)

    Binding {
        target: root.contentItem
        property: "alignment"
        value: Qt.AlignLeft | Qt.AlignVCenter
        when: root.listed
    }

    background: Rectangle {
        radius: Theme.radius
        color: root.primary ? Theme.accent : root.hovered || root.down || root.checked ? Theme.hover : "transparent"
        border.width: root.outlined ? 1 : 0
        border.color: Theme.line

        FocusRing {
            control: root
            apart: root.primary
        }
    }

    // As Space does.
    Keys.onPressed: event => {
        event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
        if (event.accepted && !event.isAutoRepeat)
            click();
    }

    Accessible.name: text
}
