// SPDX-License-Identifier: MIT
//
// A slider in the window's colours. `name` is what assistive tools say.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Slider {
    id: root

    required property string name

    implicitWidth: 160
    implicitHeight: Theme.controlHeight
    leftPadding: 0
    rightPadding: 0
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.45

    background: Rectangle {
        x: root.leftPadding
        y: (root.height - height) / 2
        width: root.availableWidth
        height: Theme.step
        radius: 2
        color: Theme.line

        Rectangle {
            width: root.visualPosition * parent.width
            height: parent.height
            radius: 2
            color: Theme.accent
        }
    }
    handle: Rectangle {
        x: root.leftPadding + root.visualPosition * (root.availableWidth - width)
        y: (root.height - height) / 2
        width: Math.round(16 * Math.max(1, Theme.fontScale))
        height: width
        radius: width / 2
        color: root.pressed ? Qt.lighter(Theme.accent, 1.1) : Theme.accent
        border.width: 2
        border.color: Theme.surface

        FocusRing {
            control: root
            radius: parent.width
        }
    }

    Accessible.name: name
}
