// SPDX-License-Identifier: MIT
//
// One setting: its name and what it does at the left, the control at the right, or below where there is little room.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

GridLayout {
    id: root

    required property string label
    property string hint
    property string note // something a person should act on or know
    property color noteColor: Theme.warn
    default property alias control: holder.data
    readonly property bool wide: width >= Math.round(520 * Math.max(1, Theme.fontScale))

    columns: wide ? 2 : 1
    columnSpacing: Theme.step * 6
    rowSpacing: Theme.step

    ColumnLayout {
        Layout.fillWidth: true
        Layout.alignment: Qt.AlignTop
        Layout.topMargin: root.wide ? Math.max(0, (Theme.controlHeight - title.implicitHeight) / 2) : 0
        spacing: 2

        UiText {
            id: title

            Layout.fillWidth: true
            text: root.label
            wrapMode: Text.Wrap
        }
        UiText {
            Layout.fillWidth: true
            visible: text !== ""
            text: root.hint
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        UiText {
            Layout.fillWidth: true
            visible: text !== ""
            text: root.note
            color: root.noteColor
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone

            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }
    }
    RowLayout {
        id: holder

        Layout.alignment: Qt.AlignTop | (root.wide ? Qt.AlignRight : Qt.AlignLeft)
        Layout.fillWidth: false
        Layout.maximumWidth: root.wide ? root.width * 0.6 : root.width
        spacing: Theme.step * 2
    }
}
