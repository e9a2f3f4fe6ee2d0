// SPDX-License-Identifier: MIT
//
// What is not needed every day.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

PopupMenu {
    id: root

    signal pageRequested(string page)

    MenuEntry {
        objectName: "benchmarkEntry"
        text: qsTr("Benchmark…")
        onTriggered: root.pageRequested("benchmark")
    }
    MenuEntry {
        objectName: "endpointEntry"
        text: qsTr("Endpoint…")
        onTriggered: root.pageRequested("endpoint")
    }
    MenuEntry {
        objectName: "setupEntry"
        text: qsTr("Set up Firesteel…")
        onTriggered: root.pageRequested("setup")
    }
}
