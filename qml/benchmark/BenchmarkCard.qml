// SPDX-License-Identifier: MIT
//
// The benchmark: one button, how far it is, and a person's own figures beside published ones with their sources.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property BenchmarkController benchmark
    readonly property int figureWidth: Math.round(112 * Theme.fontScale)

    spacing: Theme.step * 3

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        UiText {
            objectName: "benchmarkSubject"
            Layout.fillWidth: true
            text: root.benchmark.measured || root.benchmark.running ? root.benchmark.subject : qsTr("Not measured yet")
            color: Theme.dim
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        CopyButton {
            visible: root.benchmark.measured && !root.benchmark.running
            hint: qsTr("Copy the figures")
            onCopied: root.benchmark.copyResult()
        }
        TextButton {
            objectName: "benchmarkButton"
            enabled: root.benchmark.running || root.benchmark.available
            primary: !root.benchmark.running && !root.benchmark.measured
            text: root.benchmark.running ? qsTr("Stop") : root.benchmark.measured ? qsTr("Measure again") : qsTr("Start the benchmark")
            onClicked: root.benchmark.running ? root.benchmark.stop() : root.benchmark.start()
        }
    }
    LoadProgress {
        Layout.fillWidth: true
        visible: root.benchmark.running
        words: root.benchmark.stage
        fraction: root.benchmark.fraction
    }
    NoticeCard {
        Layout.fillWidth: true
        visible: root.benchmark.problem !== ""
        title: qsTr("The benchmark did not finish")
        detail: root.benchmark.problem
    }

    Rectangle {
        Layout.fillWidth: true
        implicitHeight: table.implicitHeight + Theme.step * 6
        radius: Theme.cardRadius
        color: Theme.surface
        border.color: Theme.line

        ColumnLayout {
            id: table

            x: Theme.step * 4
            y: Theme.step * 3
            width: parent.width - Theme.step * 8
            spacing: Theme.step * 3

            RowLayout {
                Layout.fillWidth: true
                spacing: Theme.step * 2

                Item {
                    Layout.fillWidth: true
                }
                UiText {
                    Layout.preferredWidth: root.figureWidth
                    horizontalAlignment: Text.AlignRight
                    text: qsTr("Yours")
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                }
                UiText {
                    Layout.preferredWidth: root.figureWidth
                    horizontalAlignment: Text.AlignRight
                    text: qsTr("Published")
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                }
            }
            Repeater {
                model: root.benchmark.rows

                ColumnLayout {
                    id: line

                    required property benchmarkRow modelData

                    Layout.fillWidth: true
                    spacing: 2

                    Accessible.role: Accessible.ListItem
                    Accessible.name: qsTr("%1: yours %2, published %3").arg(modelData.name).arg(modelData.own === "" ? qsTr("not measured") : modelData.own).arg(modelData.published)
                    Accessible.description: qsTr("%1, %2").arg(modelData.how).arg(modelData.source)

                    RowLayout {
                        Layout.fillWidth: true
                        spacing: Theme.step * 2

                        UiText {
                            Layout.fillWidth: true
                            text: line.modelData.name
                        }
                        UiText {
                            objectName: "ownFigure"
                            Layout.preferredWidth: root.figureWidth
                            horizontalAlignment: Text.AlignRight
                            text: line.modelData.own === "" ? qsTr("–") : line.modelData.own
                            font.weight: Font.DemiBold
                        }
                        UiText {
                            Layout.preferredWidth: root.figureWidth
                            horizontalAlignment: Text.AlignRight
                            text: line.modelData.published
                        }
                    }
                    UiText {
                        Layout.fillWidth: true
                        text: qsTr("Published: %1 · %2").arg(line.modelData.how).arg(line.modelData.source)
                        color: Theme.dim
                        font.pixelSize: Theme.smallSize
                        wrapMode: Text.Wrap
                        elide: Text.ElideNone
                    }
                }
            }
        }
    }
    UiText {
        objectName: "benchmarkNote"
        Layout.fillWidth: true
        text: root.benchmark.note
        color: Theme.dim
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
