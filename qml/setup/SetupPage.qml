// SPDX-License-Identifier: MIT
//
// The first run in place of the chat: six steps, any of which can be left and resumed. Each step is a file of its own; here
// are the list of steps and the buttons under them.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property SetupController setup
    required property ModelsController models
    required property EngineController engine
    required property BenchmarkController benchmark

    readonly property list<string> names: [qsTr("Check"), qsTr("Folder"), qsTr("Licences"), qsTr("Download"), qsTr("Load"), qsTr("Benchmark")]
    readonly property list<Component> steps: [checkStep, folderStep, licencesStep, downloadStep, loadStep, benchmarkStep]
    readonly property bool last: setup.step === SetupController.Benchmark

    // The next step does not help on a machine that cannot run the large model; the chat does.
    readonly property bool inVain: setup.step === SetupController.Check && setup.checks.length > 0 && !setup.capable

    // The chat is there all the time; this page waits where it was left.
    signal closed

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Set up Firesteel")

    Component.onCompleted: setup.check()

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        Flow {
            id: trail

            Layout.fillWidth: true
            Layout.maximumWidth: Theme.columnWidth
            Layout.alignment: Qt.AlignHCenter
            Layout.margins: Theme.step * 4
            Layout.topMargin: Theme.step * 2
            Layout.bottomMargin: Theme.step * 2
            leftPadding: -Theme.step * 3 // of the first button: its words stand over the heading
            spacing: Theme.step

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Steps")

            Repeater {
                model: root.names

                TextButton {
                    required property string modelData
                    required property int index
                    readonly property bool current: index === root.setup.step

                    objectName: "setupStep" + index
                    flat: true
                    text: qsTr("%1. %2").arg(index + 1).arg(modelData)
                    palette.windowText: current ? Theme.accent : index < root.setup.step ? Theme.text : Theme.dim
                    font.weight: current ? Font.DemiBold : Font.Normal
                    onClicked: root.setup.show(index)

                    Accessible.description: current ? qsTr("This step") : ""
                }
            }
        }

        Flickable {
            id: flick

            readonly property real side: Math.max(Theme.step * 4, (width - Theme.columnWidth) / 2)

            Layout.fillWidth: true
            Layout.fillHeight: true
            contentHeight: loader.height + Theme.step * 8
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: ThinScrollBar {}

            Loader {
                id: loader

                objectName: "setupContent"
                x: flick.side
                y: Theme.step * 4
                width: flick.width - flick.side * 2
                focus: root.inVain // the keyboard begins with what helps
                sourceComponent: root.steps[root.setup.step]
                onLoaded: flick.contentY = 0
            }
        }

        RowLayout {
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.columnWidth
            Layout.alignment: Qt.AlignHCenter
            Layout.margins: Theme.step * 4
            spacing: Theme.step * 2

            TextButton {
                objectName: "setupLater"
                Layout.leftMargin: -leftPadding
                flat: true
                text: root.setup.finished ? qsTr("Close") : qsTr("Go on another time")
                onClicked: root.closed()
            }
            Item {
                Layout.fillWidth: true
            }
            TextButton {
                objectName: "setupBack"
                visible: root.setup.step !== SetupController.Check
                text: qsTr("Back")
                onClicked: root.setup.back()
            }
            TextButton {
                objectName: "setupNext"
                focus: !root.inVain
                primary: !root.inVain
                text: root.last ? qsTr("Finish") : qsTr("Next")
                onClicked: {
                    const ends = root.last;
                    root.setup.next();
                    if (ends)
                        root.closed();
                }
            }
        }
    }

    Component {
        id: checkStep

        CheckStep {
            setup: root.setup
            onChatChosen: {
                root.setup.finish();
                root.closed();
            }
        }
    }
    Component {
        id: folderStep

        FolderStep {
            setup: root.setup
            models: root.models
        }
    }
    Component {
        id: licencesStep

        ModelsStep {
            models: root.models
            heading: qsTr("Read and accept the licences")
            words: qsTr("GLM-5.3-Flash is free for any use. The drafter makes it faster; its licence forbids commercial use. You can decline it, and everything works without it, only slower. Accepting begins the download.")
        }
    }
    Component {
        id: downloadStep

        DownloadStep {
            setup: root.setup
            models: root.models
            engine: root.engine
            onChatChosen: root.closed()
        }
    }
    Component {
        id: loadStep

        LoadStep {
            setup: root.setup
            models: root.models
            engine: root.engine
        }
    }
    Component {
        id: benchmarkStep

        BenchmarkStep {
            benchmark: root.benchmark
        }
    }
}
