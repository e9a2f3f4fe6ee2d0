// SPDX-License-Identifier: MIT
//
// Copies something; the tick says for a moment that it happened.
import QtQuick
import Firesteel.Ui

IconButton {
    id: root

    readonly property bool done: timer.running

    signal copied

    symbol: done ? "check" : "copy"
    tint: done ? Theme.good : Theme.dim
    size: Theme.controlHeight - Theme.step
    onClicked: {
        copied();
        timer.restart();
    }

    Timer {
        id: timer

        interval: 1500
    }

    Accessible.description: done ? qsTr("Copied") : ""
}
