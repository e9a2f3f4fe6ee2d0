// SPDX-License-Identifier: MIT
//
// The benchmark in place of the chat.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property BenchmarkController benchmark

    signal closed

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Benchmark")

    Flickable {
        id: flick

        readonly property real side: Math.max(Theme.step * 4, (width - Theme.columnWidth) / 2)

        anchors.fill: parent
        contentHeight: column.implicitHeight + Theme.step * 10
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        ScrollBar.vertical: ThinScrollBar {}

        ColumnLayout {
            id: column

            x: flick.side
            y: Theme.step * 4
            width: flick.width - flick.side * 2
            spacing: Theme.step * 4

            RowLayout {
                Layout.fillWidth: true
                spacing: Theme.step * 2

                UiText {
                    Layout.fillWidth: true
                    text: qsTr("How fast the loaded model reads and writes on this computer.")
                    color: Theme.dim
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                TextButton {
                    objectName: "benchmarkBack"
                    focus: true // where Tab goes on from
                    flat: true
                    text: qsTr("Back to the chat")
                    onClicked: root.closed()
                }
            }
            BenchmarkCard {
                Layout.fillWidth: true
                benchmark: root.benchmark
            }
        }
    }
}
