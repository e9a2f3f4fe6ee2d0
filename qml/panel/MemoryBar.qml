// SPDX-License-Identifier: MIT
//
// The machine's memory as one pool: who has it, what is free, and how much of that should stay so.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property memoryPool memory

    readonly property var parts: [
        {
            "name": qsTr("Weights"),
            "bytes": memory.weights,
            "color": Theme.accent
        },
        {
            "name": qsTr("Context states"),
            "bytes": memory.states,
            "color": Theme.warn
        },
        {
            "name": qsTr("Rest of Firesteel"),
            "bytes": memory.program,
            "color": Theme.good
        },
        {
            "name": qsTr("Other programs"),
            "bytes": memory.others,
            "color": Theme.dim
        },
        {
            "name": qsTr("Free"),
            "bytes": memory.free,
            "color": Theme.raised
        }
    ]

    function size(bytes: real): string {
        return Qt.locale().formattedDataSize(bytes, bytes < 10 * 1024 * 1024 * 1024 ? 2 : 1);
    }

    spacing: Theme.step
    visible: memory.total > 0

    Item {
        id: bar

        Layout.fillWidth: true
        Layout.topMargin: Theme.step
        implicitHeight: Theme.step * 4

        Accessible.role: Accessible.Chart
        Accessible.name: qsTr("Memory: %1 of %2 are free, %3 should stay free").arg(root.size(root.memory.free)).arg(root.size(root.memory.total)).arg(root.size(root.memory.reserve))

        Row {
            id: row

            anchors.fill: parent

            Repeater {
                model: root.parts.length

                Rectangle {
                    required property int index

                    width: root.memory.total > 0 ? root.parts[index].bytes / root.memory.total * bar.width : 0
                    height: bar.height
                    color: root.parts[index].color
                }
            }
        }
        Rectangle {
            anchors.fill: parent
            color: "transparent"
            border.color: Theme.line
        }
        // What should stay free begins here.
        Rectangle {
            objectName: "reserveMark"
            x: root.memory.total > 0 ? Math.max(0, 1 - root.memory.reserve / root.memory.total) * bar.width - width : 0
            y: -Theme.step
            width: 2
            height: parent.height + Theme.step * 2
            color: Theme.bad
        }
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.topMargin: Theme.step
        columns: 3
        columnSpacing: Theme.step * 2
        rowSpacing: 2

        Repeater {
            model: root.parts.length

            Rectangle {
                required property int index

                Layout.column: 0
                Layout.row: index
                implicitWidth: Theme.step * 2
                implicitHeight: Theme.step * 2
                radius: 2
                color: root.parts[index].color
                border.color: Theme.line
            }
        }
        Repeater {
            model: root.parts.length

            UiText {
                required property int index

                Layout.column: 1
                Layout.row: index
                Layout.fillWidth: true
                Layout.minimumWidth: 0
                text: root.parts[index].name
                color: Theme.dim
                font.pixelSize: Theme.smallSize
            }
        }
        Repeater {
            model: root.parts.length

            UiText {
                required property int index

                Layout.column: 2
                Layout.row: index
                Layout.alignment: Qt.AlignRight
                text: root.size(root.parts[index].bytes)
                font.pixelSize: Theme.smallSize
            }
        }
    }
    UiText {
        Layout.fillWidth: true
        text: qsTr("The mark: %1 should stay free.").arg(root.size(root.memory.reserve))
        color: Theme.dim
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
