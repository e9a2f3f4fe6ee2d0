// SPDX-License-Identifier: MIT
//
// What stands where there are no messages yet: what the model is doing and what to do next.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Item {
    id: root

    required property EngineController engine
    property bool remote: false // another machine answers
    readonly property bool ready: remote || engine.state === EngineController.Ready

    readonly property list<string> examples: [qsTr("What is a hash map?"), qsTr("Write a Python function that checks whether a number is prime."), qsTr("Make a table of the capitals of France, Japan and Kenya.")]

    signal exampleChosen(string text)

    ColumnLayout {
        id: column

        anchors.centerIn: parent
        width: Math.min(Theme.columnWidth, parent.width - Theme.step * 10)
        spacing: Theme.step * 4

        Image {
            Layout.alignment: Qt.AlignHCenter
            source: "qrc:/firesteel/icons/hicolor/scalable/apps/org.firesteel.Firesteel.svg"
            sourceSize: Qt.size(64, 64)
            visible: root.height > height + Theme.step * 40 * Theme.fontScale
        }
        ModelNotice {
            Layout.fillWidth: true
            visible: !root.ready
            engine: root.engine
        }
        ColumnLayout {
            Layout.fillWidth: true
            visible: root.ready
            spacing: Theme.step * 2

            UiText {
                Layout.fillWidth: true
                Layout.bottomMargin: Theme.step * 3
                horizontalAlignment: Text.AlignHCenter
                text: qsTr("What would you like to ask?")
                font.pixelSize: Theme.titleSize
                font.weight: Font.DemiBold
            }
            Repeater {
                model: root.examples

                TextButton {
                    required property string modelData
                    required property int index

                    Layout.alignment: Qt.AlignHCenter
                    Layout.maximumWidth: column.width
                    visible: root.height > Theme.step * 16 + (index + 2) * (height + Theme.step * 2)
                    text: modelData
                    onClicked: root.exampleChosen(modelData)
                }
            }
        }
    }
}
