// SPDX-License-Identifier: MIT
//
// An answer that failed: what happened, why, and the button that helps.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string errorText
    required property string errorAction
    required property int version
    required property int versions
    property bool last: false
    property bool canSwitch: true
    property bool modelFailed: false // said, with a button of its own, above the composer

    readonly property string actionLabel: {
        switch (errorAction) {
        case "retry":
            return last ? qsTr("Try again") : "";
        case "reloadModel":
            return modelFailed ? "" : qsTr("Load the model again");
        case "newConversation":
            return qsTr("New chat");
        default:
            return "";
        }
    }

    signal triggered(string action)
    signal versionStepped(int step, bool byKeyboard)

    onVersionsFocusRequested: step => versionSwitcher.takeFocus(step)

    gap: Theme.step * 4

    NoticeCard {
        width: parent.width
        title: qsTr("The answer could not be finished")
        detail: root.errorText
        action: root.actionLabel
        onTriggered: root.triggered(root.errorAction)
    }
    VersionSwitcher {
        id: versionSwitcher

        topPadding: Theme.step
        version: root.version
        versions: root.versions
        canSwitch: root.canSwitch
        onStepped: (step, byKeyboard) => root.versionStepped(step, byKeyboard)
    }
}
