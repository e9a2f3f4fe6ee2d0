// SPDX-License-Identifier: MIT
//
// A square button with a symbolic icon. `hint` is its tool tip and its name for assistive tools.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Button {
    id: root

    required property string symbol
    required property string hint
    property color tint: Theme.dim
    property color fill: "transparent"
    property color hoverFill: Theme.hover
    property int size: Theme.controlHeight
    // By its tip. What scrolls under a mouse at rest is hovered, though its actions are hidden until the mouse moves.
    readonly property bool explained: (hovered || visualFocus) && opacity > 0

    implicitWidth: size
    implicitHeight: size
    padding: 0
    display: AbstractButton.IconOnly
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.45

    icon.source: Theme.icon(symbol)
    icon.color: hovered && fill.a === 0 ? Theme.text : tint
    icon.width: Math.round(16 * Theme.fontScale)
    icon.height: Math.round(16 * Theme.fontScale)

    background: Rectangle {
        radius: Theme.radius
        color: root.hovered || root.down || root.checked ? root.hoverFill : root.fill

        FocusRing {
            control: root
            apart: root.fill.a > 0
        }
    }

    Tip {
        text: root.hint
        visible: root.explained
    }

    // As Space does.
    Keys.onPressed: event => {
        event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
        if (event.accepted && !event.isAutoRepeat)
            click();
    }

    Accessible.name: hint
}
