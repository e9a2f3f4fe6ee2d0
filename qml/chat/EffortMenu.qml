// SPDX-License-Identifier: MIT
//
// How long the model may think before it answers.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

TextButton {
    id: root

    property int effort: ConversationController.Low

    readonly property list<string> names: [qsTr("off"), qsTr("low"), qsTr("high"), qsTr("max")]

    signal picked(int effort)

    objectName: "effortButton"
    flat: true
    symbol: "chevron-down"
    ink: Theme.dim
    text: qsTr("Thinking: %1").arg(names[effort] ?? "")
    LayoutMirroring.enabled: Qt.locale().textDirection === Qt.LeftToRight // the chevron stands after the words
    onClicked: menu.open()

    PopupMenu {
        id: menu

        objectName: "effortMenu"
        y: -height - Theme.step

        MenuEntry {
            text: qsTr("Off")
            note: qsTr("Answers at once")
            checkable: true
            checked: root.effort === ConversationController.Off
            onTriggered: root.picked(ConversationController.Off)
        }
        MenuEntry {
            text: qsTr("Low")
            note: qsTr("Thinks when it helps")
            checkable: true
            checked: root.effort === ConversationController.Low
            onTriggered: root.picked(ConversationController.Low)
        }
        MenuEntry {
            text: qsTr("High")
            note: qsTr("Thinks before most answers")
            checkable: true
            checked: root.effort === ConversationController.High
            onTriggered: root.picked(ConversationController.High)
        }
        MenuEntry {
            text: qsTr("Max")
            note: qsTr("Thinks as long as it needs")
            checkable: true
            checked: root.effort === ConversationController.Max
            onTriggered: root.picked(ConversationController.Max)
        }
    }

    Accessible.description: qsTr("How long the model may think before it answers")
}
