// SPDX-License-Identifier: MIT
//
// Figures below each other; at most one of the panel shows its history.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

Repeater {
    id: root

    required property string opened // name of the figure that shows its history

    signal chosen(string name)
    signal focused(Item item)

    MetricRow {
        id: row

        required property MetricHistory modelData

        metric: modelData
        checked: root.opened === modelData.name
        onToggled: root.chosen(checked ? modelData.name : "")
        onActiveFocusChanged: {
            if (activeFocus)
                root.focused(row);
        }
    }
}
