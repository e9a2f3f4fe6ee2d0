// SPDX-License-Identifier: MIT
//
// What the other machine's engine tells of itself, while the chat on show uses one.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property RemoteMonitor monitor
    required property string opened // name of the figure that shows its history

    signal chosen(string name)
    signal focused(Item item)

    visible: monitor.active
    spacing: 0

    PanelHeading {
        objectName: "remoteHeading"
        text: qsTr("%1, another machine").arg(root.monitor.name)
    }
    UiText {
        objectName: "remoteState"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.monitor.stateText
        color: Theme.dim
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    MetricList {
        opened: root.opened
        onChosen: name => root.chosen(name)
        onFocused: item => root.focused(item)
        model: root.monitor.active ? root.monitor.metrics : []
    }
    PanelHeading {
        text: qsTr("This machine")
    }
}
