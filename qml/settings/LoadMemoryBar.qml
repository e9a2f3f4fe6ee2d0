// SPDX-License-Identifier: MIT
//
// What a load would take of the memory that can be used: weights, context, and the reserve at the other end.
import QtQuick
import Firesteel.Ui

Rectangle {
    id: root

    property real weights: 0 // shares, 0 to 1
    property real context: 0
    property real reserve: 0
    property bool fits: true

    implicitHeight: Theme.step * 2
    radius: height / 2
    color: Theme.raised
    border.width: 1
    border.color: Theme.line
    clip: true

    Accessible.role: Accessible.Graphic
    Accessible.name: qsTr("Memory: model %1 %, context %2 %, reserve %3 %").arg(Math.round(weights * 100)).arg(Math.round(context * 100)).arg(Math.round(reserve * 100))

    Rectangle {
        anchors.right: parent.right
        width: parent.width * Math.min(1, root.reserve)
        height: parent.height
        radius: parent.radius
        color: Theme.dim
        opacity: 0.45
    }
    Rectangle {
        width: parent.width * Math.min(1, root.weights + root.context)
        height: parent.height
        radius: parent.radius
        color: root.fits ? Theme.accent : Theme.bad
    }
    Rectangle {
        width: parent.width * Math.min(1, root.weights)
        height: parent.height
        radius: parent.radius
        color: root.fits ? Qt.darker(Theme.accent, 1.35) : Qt.darker(Theme.bad, 1.35)
    }
}
