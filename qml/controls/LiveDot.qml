// SPDX-License-Identifier: MIT
//
// The mark of work in progress. Pulses, or stands still with reduced motion.
import QtQuick
import Firesteel.Ui

Rectangle {
    id: root

    implicitWidth: Theme.step * 2
    implicitHeight: implicitWidth
    radius: width / 2
    color: Theme.accent

    SequentialAnimation on opacity {
        running: root.visible && !Theme.reducedMotion
        loops: Animation.Infinite
        alwaysRunToEnd: true

        NumberAnimation {
            to: 0.3
            duration: 700
        }
        NumberAnimation {
            to: 1
            duration: 700
        }
    }
}
