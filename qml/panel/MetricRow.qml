// SPDX-License-Identifier: MIT
//
// A named figure of the panel. Pressed, it shows its last two minutes below.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

AbstractButton {
    id: root

    required property MetricHistory metric

    Layout.fillWidth: true
    implicitHeight: content.implicitHeight
    checkable: true
    focusPolicy: Qt.StrongFocus

    contentItem: ColumnLayout {
        id: content

        spacing: 0

        RowLayout {
            Layout.fillWidth: true
            Layout.minimumHeight: Math.round(26 * Theme.fontScale)
            spacing: Theme.step * 2

            UiText {
                Layout.fillWidth: true
                Layout.minimumWidth: 0
                text: root.metric.name
                color: Theme.dim
            }
            UiText {
                text: root.metric.text
                color: root.metric.known ? Theme.text : Theme.dim
            }
        }
        HistoryPlot {
            Layout.fillWidth: true
            Layout.preferredHeight: Theme.step * 12
            Layout.bottomMargin: Theme.step * 2
            visible: root.checked
            history: root.metric
            color: Theme.accent
            baseColor: Theme.line

            Accessible.role: Accessible.Chart
            Accessible.name: qsTr("%1 over the last two minutes, at most %2 %3").arg(root.metric.name).arg(root.metric.peak.toLocaleString(Qt.locale(), "f", 1)).arg(root.metric.unit)
        }
    }
    background: Rectangle {
        x: -Theme.step * 2
        width: root.width + Theme.step * 4
        radius: Theme.radius - 2
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing {
            control: root
        }
    }

    // As Space does.
    Keys.onPressed: event => {
        event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
        if (event.accepted && !event.isAutoRepeat)
            click();
    }

    Accessible.name: root.metric.name + ": " + root.metric.text
    Accessible.description: root.checked ? qsTr("Press to hide its history") : qsTr("Press to show its history")
}
