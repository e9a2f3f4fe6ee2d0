// SPDX-License-Identifier: MIT
//
// A piece of the model's reasoning, shown while its ThinkingBlock is open.
import QtQuick
import Firesteel.Ui

BlockItem {
    id: root

    required property string text

    gap: Theme.step

    Item {
        width: parent.width
        height: label.height

        Rectangle {
            x: Theme.step * 2 - 1
            width: 2
            height: parent.height
            radius: 1
            color: Theme.line
        }
        TextEdit {
            id: label

            x: Theme.step * 6
            width: parent.width - x
            text: root.text
            textFormat: TextEdit.PlainText
            readOnly: true
            selectByMouse: true
            wrapMode: TextEdit.Wrap
            color: Theme.dim
            selectionColor: Theme.selection
            selectedTextColor: Theme.text
            font.family: Theme.sans
            font.pixelSize: Theme.readingSize - 1

            FindMarks {
                text: label
                find: root.find
                row: root.index
            }

            HoverHandler {
                cursorShape: Qt.IBeamCursor
            }

            Accessible.role: Accessible.Paragraph
            Accessible.name: qsTr("Reasoning: %1").arg(root.text)
        }
    }
}
