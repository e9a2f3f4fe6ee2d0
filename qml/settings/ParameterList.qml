// SPDX-License-Identifier: MIT
//
// Every parameter of an answer, one under another.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property ParameterListModel parameters

    spacing: Theme.step * 4

    Repeater {
        model: root.parameters

        ParameterRow {
            Layout.fillWidth: true
            parameters: root.parameters
        }
    }
}
