// SPDX-License-Identifier: MIT
//
// A few lines of what a licence says, under one heading.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string heading
    required property list<string> lines
    required property string symbol
    required property color tint

    visible: lines.length > 0
    spacing: Theme.step

    UiText {
        text: root.heading
        font.weight: Font.DemiBold
    }
    Repeater {
        model: root.lines

        RowLayout {
            id: line

            required property string modelData

            Layout.fillWidth: true
            spacing: Theme.step * 2

            Icon {
                Layout.alignment: Qt.AlignTop
                Layout.topMargin: 1
                symbol: root.symbol
                color: root.tint
            }
            UiText {
                Layout.fillWidth: true
                text: line.modelData
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
        }
    }
}
