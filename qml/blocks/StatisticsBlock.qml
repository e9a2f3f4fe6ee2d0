// SPDX-License-Identifier: MIT
//
// The dim line under an answer: what it cost, and what can be done with it.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string statistics
    property bool shown: true
    property bool messageHovered: false
    required property int version
    required property int versions
    property bool canRegenerate: false
    property bool canSwitch: true
    readonly property bool actionsShown: messageHovered || copyButton.activeFocus || copyButton.done || regenerateButton.activeFocus

    signal copied
    signal regenerated
    signal versionStepped(int step, bool byKeyboard)

    onVersionsFocusRequested: step => versionSwitcher.takeFocus(step)

    gap: Theme.step * 2

    Row {
        height: Theme.controlHeight
        spacing: Theme.step

        UiText {
            objectName: "statistics"
            anchors.verticalCenter: parent.verticalCenter
            rightPadding: Theme.step * 2
            visible: root.shown
            text: root.statistics
            color: Theme.dim
            font.pixelSize: Theme.smallSize
        }
        VersionSwitcher {
            id: versionSwitcher

            anchors.verticalCenter: parent.verticalCenter
            version: root.version
            versions: root.versions
            canSwitch: root.canSwitch
            onStepped: (step, byKeyboard) => root.versionStepped(step, byKeyboard)
        }
        CopyButton {
            id: copyButton

            anchors.verticalCenter: parent.verticalCenter
            opacity: root.actionsShown ? 1 : 0
            hint: qsTr("Copy the answer as Markdown")
            onCopied: root.copied()
        }
        IconButton {
            id: regenerateButton

            objectName: "regenerate"
            anchors.verticalCenter: parent.verticalCenter
            size: copyButton.size
            visible: root.canRegenerate
            opacity: root.actionsShown ? 1 : 0
            symbol: "regenerate"
            hint: qsTr("Answer again")
            onClicked: root.regenerated()
        }
    }
}
