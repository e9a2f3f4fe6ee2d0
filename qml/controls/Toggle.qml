// SPDX-License-Identifier: MIT
//
// On or off. `name` is what assistive tools say; the words stand beside it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Switch {
    id: root

    required property string name

    implicitWidth: track.width
    implicitHeight: Theme.controlHeight
    padding: 0
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.45
    contentItem: null
    background: null

    indicator: Rectangle {
        id: track

        readonly property int thickness: Math.round(20 * Math.max(1, Theme.fontScale))

        y: (root.height - height) / 2
        width: thickness * 1.8
        height: thickness
        radius: height / 2
        color: root.checked ? Theme.accent : Theme.raised
        border.width: root.checked ? 0 : 1
        border.color: Theme.dim

        Rectangle {
            x: root.checked ? parent.width - width - 3 : 3
            y: 3
            width: parent.height - 6
            height: width
            radius: width / 2
            color: root.checked ? Theme.accentText : Theme.dim

            Behavior on x {
                NumberAnimation {
                    duration: Theme.duration
                }
            }
        }
        FocusRing {
            control: root
            apart: root.checked
            radius: track.radius + reach
        }
    }

    Accessible.name: name
}
