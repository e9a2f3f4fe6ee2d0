// SPDX-License-Identifier: MIT
//
// Shows what no longer fits beside the chat over its edge; goes away when it fits again.
import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Drawer {
    id: root

    required property Component page
    property bool docked: false

    padding: 0
    dragMargin: 0
    onDockedChanged: {
        if (docked)
            close();
    }

    enter: Transition {
        SmoothedAnimation {
            duration: Theme.duration
            velocity: -1
        }
    }
    exit: Transition {
        SmoothedAnimation {
            duration: Theme.duration
            velocity: -1
        }
    }
    Overlay.modal: Rectangle {
        color: Theme.scrim
    }
    background: Rectangle {
        color: Theme.surface
    }

    Loader {
        anchors.fill: parent
        active: root.visible
        sourceComponent: root.page
    }
}
