// SPDX-License-Identifier: MIT
//
// A table. Columns take their natural width up to a limit; a table wider than the page scrolls sideways inside.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

BlockItem {
    id: root

    required property list<string> tableHeader // HTML; empty on the later parts of a long table
    required property var tableRows // a list of HTML strings per row
    required property var tableAlignments // a Qt.Alignment per column

    readonly property int columns: Math.max(1, tableAlignments.length)

    gap: tableHeader.length > 0 ? Theme.step * 4 : 0

    // While a table is written, only cells that changed are touched.
    TableCells {
        id: cells

        header: root.tableHeader
        rows: root.tableRows
    }

    Flickable {
        id: scroller

        width: parent.width
        height: contentHeight
        contentWidth: Math.max(width, grid.implicitWidth)
        contentHeight: grid.implicitHeight
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        ScrollBar.horizontal: ThinScrollBar {}

        GridLayout {
            id: grid

            objectName: "table"
            width: scroller.contentWidth
            columns: root.columns
            columnSpacing: 0
            rowSpacing: 0
            layoutDirection: root.rightToLeft ? Qt.RightToLeft : Qt.LeftToRight

            Repeater {
                model: cells

                TableCell {
                    required property int index

                    find: root.find
                    row: root.index
                    part: index
                    heading: index < root.tableHeader.length
                    rightToLeft: root.rightToLeft
                    alignment: root.tableAlignments[index % root.columns] ?? Qt.AlignLeft
                }
            }
        }
    }
}
