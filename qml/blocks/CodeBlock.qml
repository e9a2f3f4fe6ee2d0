// SPDX-License-Identifier: MIT
//
// A code block: its language, wrap and copy above; the code scrolls sideways inside. Always left to right.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

BlockItem {
    id: root

    required property string code
    required property string language
    required property string languageLabel
    required property bool open
    property bool wrapped: false

    signal copied

    ListView.onPooled: wrapped = false

    Rectangle {
        width: parent.width
        height: header.height + scroller.height
        radius: Theme.radius
        color: Theme.surface
        border.color: Theme.line

        RowLayout {
            id: header

            x: Theme.step * 4
            width: parent.width - Theme.step * 5
            height: Theme.controlHeight + Theme.step
            spacing: 0

            UiText {
                Layout.fillWidth: true
                text: root.languageLabel
                color: Theme.dim
                font.pixelSize: Theme.smallSize
            }
            IconButton {
                symbol: "wrap"
                hint: root.wrapped ? qsTr("Do not wrap lines") : qsTr("Wrap long lines")
                size: Theme.controlHeight - Theme.step
                checkable: true
                checked: root.wrapped
                onToggled: root.wrapped = checked
            }
            CopyButton {
                objectName: "copyCode"
                hint: qsTr("Copy this code")
                onCopied: root.copied()
            }
        }

        Rectangle {
            y: header.height
            width: parent.width
            height: 1
            color: Theme.line
        }

        Flickable {
            id: scroller

            y: header.height
            width: parent.width
            height: contentHeight
            contentWidth: root.wrapped ? width : Math.max(width, edit.implicitWidth)
            contentHeight: edit.height
            flickableDirection: Flickable.HorizontalFlick
            boundsBehavior: Flickable.StopAtBounds
            clip: true
            ScrollBar.horizontal: ThinScrollBar {}

            TextEdit {
                id: edit

                objectName: "code"
                width: scroller.contentWidth
                padding: Theme.step * 3
                leftPadding: Theme.step * 4
                rightPadding: Theme.step * 4
                textFormat: TextEdit.PlainText
                readOnly: true
                selectByMouse: true
                wrapMode: root.wrapped ? TextEdit.WrapAnywhere : TextEdit.NoWrap
                horizontalAlignment: TextEdit.AlignLeft
                color: Theme.text
                selectionColor: Theme.selection
                selectedTextColor: Theme.text
                font.family: Theme.mono
                font.pixelSize: Theme.codeSize

                FindMarks {
                    text: edit
                    find: root.find
                    row: root.index
                    onCurrentPlaced: place => {
                        if (place.right > scroller.contentX + scroller.width || place.x < scroller.contentX)
                            scroller.contentX = Math.max(0, Math.min(place.x - scroller.width / 3, scroller.contentWidth - scroller.width));
                    }
                }

                HoverHandler {
                    cursorShape: Qt.IBeamCursor
                }

                Accessible.role: Accessible.EditableText
                Accessible.name: root.languageLabel === "" ? qsTr("Code") : qsTr("Code in %1").arg(root.languageLabel)
            }
        }
    }

    CodeDocument {
        textDocument: edit.textDocument
        language: root.language
        code: root.code
        open: root.open
        dark: Theme.dark
    }
}
