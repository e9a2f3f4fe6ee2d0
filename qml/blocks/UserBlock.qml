// SPDX-License-Identifier: MIT
//
// A turn of the person: their words as typed, on a tinted card, and under it the way to other versions of them. A long message
// comes in several rows, which form one card.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string text
    required property bool firstInMessage
    required property bool lastInMessage
    required property int version
    required property int versions
    property bool messageHovered: false
    property bool canEdit: false
    property bool canSwitch: true

    readonly property int topPadding: firstInMessage ? Theme.step * 3 : 0
    readonly property int bottomPadding: lastInMessage ? Theme.step * 3 : 0
    readonly property bool actionsShown: messageHovered || copyButton.activeFocus || copyButton.done || editButton.activeFocus

    signal copied
    signal edited
    signal versionStepped(int step, bool byKeyboard)

    onVersionsFocusRequested: step => versionSwitcher.takeFocus(step)

    gap: !firstInMessage ? 0 : index === 0 ? Theme.step * 6 : Theme.step * 9

    Item {
        width: parent.width
        height: label.height + root.topPadding + root.bottomPadding
        clip: !root.firstInMessage || !root.lastInMessage

        // Reaches out of the row where the card goes on in the next.
        Rectangle {
            y: root.firstInMessage ? 0 : -radius
            width: parent.width
            height: parent.height - y + (root.lastInMessage ? 0 : radius)
            radius: Theme.cardRadius
            color: Theme.raised
        }

        TextEdit {
            id: label

            x: Theme.step * 4
            y: root.topPadding
            width: parent.width - copyButton.width - editButton.width - Theme.step * 8
            text: root.text
            textFormat: TextEdit.PlainText
            readOnly: true
            selectByMouse: true
            wrapMode: TextEdit.Wrap
            color: Theme.text
            selectionColor: Theme.selection
            selectedTextColor: Theme.text
            font.family: Theme.sans
            font.pixelSize: Theme.readingSize

            FindMarks {
                text: label
                find: root.find
                row: root.index
            }

            HoverHandler {
                cursorShape: Qt.IBeamCursor
            }

            Accessible.role: Accessible.Paragraph
            Accessible.name: qsTr("You: %1").arg(root.text)
        }

        IconButton {
            id: editButton

            objectName: "editMessage"
            anchors.right: copyButton.left
            anchors.rightMargin: Theme.step
            anchors.top: copyButton.top
            size: copyButton.size
            visible: root.firstInMessage && root.canEdit
            opacity: root.actionsShown ? 1 : 0
            symbol: "rename"
            hint: qsTr("Edit and ask again")
            onClicked: root.edited()
        }
        CopyButton {
            id: copyButton

            anchors.right: parent.right
            anchors.top: parent.top
            anchors.margins: Theme.step * 1.5
            visible: root.firstInMessage
            opacity: root.actionsShown ? 1 : 0
            hint: qsTr("Copy this message")
            onCopied: root.copied()
        }
    }
    Item {
        width: parent.width
        height: versionSwitcher.height + Theme.step
        visible: root.lastInMessage && root.versions > 1

        VersionSwitcher {
            id: versionSwitcher

            anchors.right: parent.right
            anchors.bottom: parent.bottom
            version: root.version
            versions: root.versions
            canSwitch: root.canSwitch
            onStepped: (step, byKeyboard) => root.versionStepped(step, byKeyboard)
        }
    }
}
