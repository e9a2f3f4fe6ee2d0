// SPDX-License-Identifier: MIT
//
// What the engine measures, live: speed over the last two minutes, context in use, requests.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    required property EngineController engine

    readonly property bool ready: engine.state === EngineController.Ready

    color: Theme.surface

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Performance")

    Rectangle {
        width: 1
        height: parent.height
        color: Theme.line
    }

    ColumnLayout {
        anchors.fill: parent
        anchors.margins: Theme.step * 4
        spacing: Theme.step

        UiText {
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            text: qsTr("Writing speed")
        }
        Row {
            spacing: Theme.step * 2

            UiText {
                id: figure

                text: root.engine.decodeTokensPerSecond.toLocaleString(Qt.locale(), "f", 1)
                font.pixelSize: Theme.titleSize * 1.6
                font.weight: Font.DemiBold
            }
            UiText {
                anchors.baseline: figure.baseline
                text: qsTr("tok/s")
                color: Theme.dim
            }
        }
        SpeedPlot {
            Layout.fillWidth: true
            Layout.preferredHeight: Theme.step * 16
            running: root.visible && root.ready
            value: root.engine.runningRequests > 0 ? root.engine.decodeTokensPerSecond : 0
        }

        Fact {
            name: qsTr("Reading speed")
            value: qsTr("%1 tok/s").arg(root.engine.prefillTokensPerSecond.toLocaleString(Qt.locale(), "f", 0))
        }
        Fact {
            name: qsTr("Context in use")
            value: qsTr("%1 of %2 tokens").arg(root.engine.usedTokens.toLocaleString(Qt.locale(), "f", 0)).arg(root.engine.contextTokens.toLocaleString(Qt.locale(), "f", 0))
        }
        Fact {
            name: qsTr("Requests")
            value: qsTr("%1 running, %2 waiting").arg(root.engine.runningRequests).arg(root.engine.waitingRequests)
        }
        Fact {
            name: qsTr("Runs on")
            value: root.ready ? root.engine.backendText : root.engine.stateText
        }
        UiText {
            Layout.fillWidth: true
            Layout.topMargin: Theme.step * 2
            visible: text !== ""
            text: root.engine.backendNote
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        Item {
            Layout.fillHeight: true
        }
    }
}
