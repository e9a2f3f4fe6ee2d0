// SPDX-License-Identifier: MIT
//
// One cell of a TableBlock, with the line under its row.
import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Item {
    id: root

    required property string html
    property bool heading: false
    property int alignment: Qt.AlignLeft
    property bool rightToLeft: false
    property ChatFind find: null
    property int row: -1 // of the table in the list
    property int part: 0

    readonly property int widest: Math.round(320 * Theme.fontScale)

    implicitWidth: Math.min(label.implicitWidth, widest)
    implicitHeight: label.height
    Layout.fillWidth: true
    Layout.fillHeight: true
    Layout.preferredWidth: implicitWidth

    ReadingText {
        id: label

        width: root.width
        leftPadding: Theme.step * 3
        rightPadding: Theme.step * 3
        topPadding: Theme.step * 2
        bottomPadding: Theme.step * 2
        html: root.html
        rightToLeft: root.rightToLeft
        find: root.find
        row: root.row
        part: root.part
        lineHeight: 1.35
        horizontalAlignment: root.alignment
        font.pixelSize: Theme.readingSize - 1
        font.weight: root.heading ? Font.DemiBold : Font.Normal

        Accessible.role: root.heading ? Accessible.ColumnHeader : Accessible.Cell
    }

    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
}
