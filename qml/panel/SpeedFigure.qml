// SPDX-License-Identifier: MIT
//
// The speed of what the engine does right now, large, over its last two minutes: reading a prompt, with its progress, or
// writing. Between answers it keeps the last one's.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property PerformanceMonitor monitor

    readonly property bool reading: monitor.prefilling
    readonly property MetricHistory metric: reading ? monitor.prefillSpeed : monitor.decodeSpeed
    readonly property bool live: reading || monitor.decoding
    readonly property string caption: reading ? qsTr("Reading the prompt") : monitor.decoding ? qsTr("Writing speed") : qsTr("Writing speed, last answer")
    readonly property string number: live && metric.known ? metric.number : monitor.lastDecodeSpeed.toLocaleString(Qt.locale(), "f", monitor.lastDecodeSpeed < 100 ? 1 : 0)

    spacing: Theme.step

    UiText {
        Layout.fillWidth: true
        text: root.caption
        color: Theme.dim
        font.pixelSize: Theme.smallSize
    }
    Row {
        spacing: Theme.step * 2

        Accessible.role: Accessible.StaticText
        Accessible.name: qsTr("%1: %2 tokens per second").arg(root.caption).arg(root.number)

        UiText {
            id: figure

            objectName: "speedFigure"
            text: root.number
            color: root.live ? Theme.text : Theme.dim
            font.pixelSize: Theme.titleSize * 1.6
            font.weight: Font.DemiBold
        }
        UiText {
            anchors.baseline: figure.baseline
            text: qsTr("tok/s")
            color: Theme.dim
        }
    }
    HistoryPlot {
        Layout.fillWidth: true
        Layout.preferredHeight: Theme.step * 16
        history: root.metric
        color: Theme.accent
        baseColor: Theme.line

        Accessible.role: Accessible.Chart
        Accessible.name: qsTr("%1 over the last two minutes, at most %2 tokens per second").arg(root.metric.name).arg(Math.round(root.metric.peak))
    }
    ColumnLayout {
        objectName: "prefillProgress"
        Layout.fillWidth: true
        visible: root.reading
        spacing: Theme.step

        Accessible.role: Accessible.ProgressBar
        Accessible.name: root.monitor.prefillText

        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.step
            radius: 2
            color: Theme.line

            Rectangle {
                width: parent.width * root.monitor.prefillFraction
                height: parent.height
                radius: 2
                color: Theme.accent
            }
        }
        UiText {
            Layout.fillWidth: true
            text: root.monitor.prefillText
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
    }
}
