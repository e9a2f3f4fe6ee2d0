// SPDX-License-Identifier: MIT
//
// A figure over the last two minutes, one bar every two seconds. Samples only while it is shown.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

Item {
    id: root

    required property real value
    property bool running: false

    readonly property int count: 60
    readonly property real peak: Math.max(1, ...samples)
    property list<real> samples

    Timer {
        interval: 2000
        running: root.running
        repeat: true
        triggeredOnStart: true
        onTriggered: root.samples = [...root.samples, root.value].slice(-root.count)
    }

    Row {
        anchors.bottom: baseline.top
        anchors.right: parent.right

        Repeater {
            model: root.samples

            Rectangle {
                required property real modelData

                anchors.bottom: parent?.bottom
                width: root.width / root.count
                height: modelData / root.peak * (root.height - 2)
                color: Theme.accent
            }
        }
    }

    Rectangle {
        id: baseline

        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }

    Accessible.role: Accessible.Chart
    Accessible.name: qsTr("Writing speed over the last two minutes, at most %1 tokens per second").arg(Math.round(peak))
}
