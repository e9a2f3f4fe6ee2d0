// SPDX-License-Identifier: MIT
//
// How much of the model's context this chat and the draft use.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

Item {
    id: root

    property int used: 0
    property int total: 0
    readonly property real share: total > 0 ? used / total : 0
    readonly property string summary: qsTr("%1 / %2").arg(shortCount(used)).arg(shortCount(total))

    function shortCount(count: int): string {
        if (count < 1000)
            return count.toLocaleString(Qt.locale(), "f", 0);
        return qsTr("%1k").arg((count / 1000).toLocaleString(Qt.locale(), "f", count < 10000 ? 1 : 0));
    }

    implicitWidth: row.implicitWidth
    implicitHeight: Theme.controlHeight
    visible: total > 0

    Row {
        id: row

        anchors.verticalCenter: parent.verticalCenter
        spacing: Theme.step * 2

        Rectangle {
            anchors.verticalCenter: parent.verticalCenter
            width: Theme.step * 10
            height: Theme.step
            radius: 2
            color: Theme.line

            Rectangle {
                width: parent.width * Math.min(1, root.share)
                height: parent.height
                radius: 2
                color: label.color
            }
        }
        UiText {
            id: label

            anchors.verticalCenter: parent.verticalCenter
            text: root.summary
            color: root.share > 1 ? Theme.bad : root.share >= 0.8 ? Theme.warn : Theme.dim
            font.pixelSize: Theme.smallSize
        }
    }

    HoverHandler {
        id: hover
    }

    Tip {
        visible: hover.hovered
        text: qsTr("%1 of %2 tokens of the context, your draft included").arg(root.used.toLocaleString(Qt.locale(), "f", 0)).arg(root.total.toLocaleString(Qt.locale(), "f", 0))
    }

    Accessible.role: Accessible.ProgressBar
    Accessible.name: qsTr("Context: %1 tokens").arg(summary)
}
