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
    property bool canRegenerate: false
    readonly property bool actionsShown: messageHovered || copyButton.activeFocus || copyButton.done || regenerateButton.activeFocus

    signal copied
    signal regenerated

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
        CopyButton {
            id: copyButton

            anchors.verticalCenter: parent.verticalCenter
            opacity: root.actionsShown ? 1 : 0
            hint: qsTr("Copy the answer as Markdown")
            onCopied: root.copied()
        }
        IconButton {
            id: regenerateButton

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
