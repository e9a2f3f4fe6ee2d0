// SPDX-License-Identifier: MIT
//
// What the engine and the machine do, live: speed, memory, GPU, requests. Everything is sampled only while this is visible.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    required property EngineController engine
    required property PerformanceMonitor monitor
    property RemoteMonitor remote: null // of the chat on show

    readonly property bool ready: engine.state === EngineController.Ready
    readonly property bool watching: visible && Window.visibility !== Window.Hidden && Window.visibility !== Window.Minimized
    readonly property bool remoteWatched: watching && !monitor.paused
    property string opened: "" // name of the figure whose history is shown

    // Keeps what has the keyboard in sight.
    function reveal(item: Item) {
        const top = item.mapToItem(column, 0, 0).y;
        if (top < scroll.contentY)
            scroll.contentY = top;
        else if (top + item.height > scroll.contentY + scroll.height)
            scroll.contentY = Math.min(top, top + item.height - scroll.height);
    }

    color: Theme.surface
    onWatchingChanged: monitor.setWatched(root, watching)
    onRemoteWatchedChanged: remote?.setWatched(remoteWatched)
    Component.onCompleted: {
        monitor.setWatched(root, watching);
        remote?.setWatched(remoteWatched);
    }
    Component.onDestruction: remote?.setWatched(false)

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Performance")

    Rectangle {
        z: 1
        width: 1
        height: parent.height
        color: Theme.line
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        RowLayout {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            Layout.leftMargin: Theme.step * 4
            spacing: Theme.step

            UiText {
                Layout.fillWidth: true
                Layout.minimumWidth: 0
                text: root.monitor.paused ? qsTr("Performance, paused") : qsTr("Performance")
                font.weight: Font.DemiBold

                Accessible.role: Accessible.Heading
                Accessible.name: text
            }
            IconButton {
                objectName: "pauseMonitor"
                symbol: root.monitor.paused ? "play" : "pause"
                hint: root.monitor.paused ? qsTr("Go on measuring") : qsTr("Pause measuring")
                onClicked: root.monitor.paused = !root.monitor.paused
            }
            CopyButton {
                objectName: "copyCsv"
                size: Theme.controlHeight
                hint: qsTr("Copy the last minutes as CSV")
                onCopied: root.monitor.copyCsv()
            }
        }

        Flickable {
            id: scroll

            objectName: "panelScroll"
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            contentHeight: column.height + Theme.step * 4
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: ThinScrollBar {}

            ColumnLayout {
                id: column

                x: Theme.step * 4
                width: scroll.width - Theme.step * 8
                spacing: 0

                Repeater {
                    model: root.monitor.warnings

                    PanelWarning {
                        required property string modelData

                        words: modelData
                    }
                }

                Loader {
                    Layout.fillWidth: true
                    active: root.remote?.active ?? false
                    visible: active
                    sourceComponent: RemoteFigures {
                        monitor: root.remote
                        opened: root.opened
                        onChosen: name => root.opened = name
                        onFocused: item => root.reveal(item)
                    }
                }
                SpeedFigure {
                    Layout.fillWidth: true
                    Layout.bottomMargin: Theme.step * 2
                    monitor: root.monitor
                }
                MetricList {
                    opened: root.opened
                    onChosen: name => root.opened = name
                    onFocused: item => root.reveal(item)
                    model: root.monitor.engineMetrics
                }

                PanelHeading {
                    text: qsTr("Guessing ahead")
                }
                AcceptanceBars {
                    Layout.fillWidth: true
                    drafting: root.monitor.drafting
                }
                MetricList {
                    opened: root.opened
                    onChosen: name => root.opened = name
                    onFocused: item => root.reveal(item)
                    model: root.monitor.drafting.known ? root.monitor.drafting.metrics : []
                }

                PanelHeading {
                    text: qsTr("Memory of this computer")
                }
                MemoryBar {
                    objectName: "memoryBar"
                    Layout.fillWidth: true
                    memory: root.monitor.memory
                }

                PanelHeading {
                    text: qsTr("Computer")
                }
                MetricList {
                    opened: root.opened
                    onChosen: name => root.opened = name
                    onFocused: item => root.reveal(item)
                    model: root.monitor.machineMetrics
                }

                PanelHeading {
                    text: root.monitor.gpuName === "" ? qsTr("GPU") : root.monitor.gpuName
                }
                UiText {
                    objectName: "gpuProblem"
                    Layout.fillWidth: true
                    visible: text !== ""
                    text: root.monitor.gpuProblem
                    color: Theme.dim
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                MetricList {
                    opened: root.opened
                    onChosen: name => root.opened = name
                    onFocused: item => root.reveal(item)
                    model: root.monitor.gpuProblem === "" ? root.monitor.gpuMetrics : []
                }

                PanelHeading {
                    text: qsTr("Requests: %1").arg(root.monitor.requests.summary)
                }
                Repeater {
                    model: root.monitor.requests

                    RequestRow {
                        Layout.fillWidth: true
                        onStopped: row => root.monitor.stopRequest(row)
                    }
                }

                PanelHeading {
                    text: qsTr("Runs on")
                }
                UiText {
                    Layout.fillWidth: true
                    text: root.ready ? root.engine.backendText : root.engine.stateText
                    color: Theme.dim
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                UiText {
                    Layout.fillWidth: true
                    visible: root.ready && root.engine.drafterName !== ""
                    text: qsTr("Drafter: %1").arg(root.engine.drafterName)
                    color: Theme.dim
                }
                UiText {
                    Layout.fillWidth: true
                    Layout.topMargin: Theme.step
                    visible: text !== ""
                    text: root.engine.backendNote
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
            }
        }
    }
}
