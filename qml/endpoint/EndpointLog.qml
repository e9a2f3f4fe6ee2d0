// SPDX-License-Identifier: MIT
//
// What the endpoint was asked since it was started, without a word of any message.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property RequestLogModel log

    spacing: Theme.step * 3

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        SectionTitle {
            Layout.fillWidth: true
            title: qsTr("Requests")
            detail: qsTr("Who asked for what. What was said is not kept.")
        }
        TextButton {
            objectName: "endpointClearLog"
            Layout.alignment: Qt.AlignTop
            visible: root.log.count > 0
            flat: true
            text: qsTr("Clear")
            onClicked: root.log.clear()
        }
    }
    UiText {
        Layout.fillWidth: true
        visible: root.log.count === 0
        text: qsTr("None so far.")
        color: Theme.dim
    }
    ListView {
        id: list

        objectName: "endpointLog"
        Layout.fillWidth: true
        Layout.preferredHeight: Math.min(contentHeight, Math.round(360 * Math.max(1, Theme.fontScale)))
        visible: root.log.count > 0
        clip: true
        activeFocusOnTab: count > 0 && contentHeight > height
        keyNavigationEnabled: true
        model: root.log
        spacing: Theme.step
        boundsBehavior: Flickable.StopAtBounds
        ScrollBar.vertical: ThinScrollBar {}

        Accessible.role: Accessible.List
        Accessible.name: qsTr("Requests")

        highlight: Rectangle {
            visible: list.activeFocus
            radius: Theme.radius
            color: Theme.raised
        }
        highlightMoveDuration: 0
        delegate: RowLayout {
            id: row

            required property string time
            required property string request
            required property string client
            required property string result
            required property string detail
            required property bool failed

            width: list.width - Theme.step * 3
            spacing: Theme.step * 3

            UiText {
                Layout.alignment: Qt.AlignTop
                text: row.time
                color: Theme.dim
                font.pixelSize: Theme.smallSize
                font.features: ({ "tnum": 1 }) // one below the other
            }
            ColumnLayout {
                Layout.fillWidth: true
                spacing: 0

                UiText {
                    Layout.fillWidth: true
                    text: row.request
                }
                UiText {
                    Layout.fillWidth: true
                    text: row.detail === "" ? row.client : qsTr("%1: %2").arg(row.client).arg(row.detail)
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                }
            }
            UiText {
                Layout.alignment: Qt.AlignTop
                text: row.result
                color: row.failed ? Theme.bad : Theme.dim
            }

            Accessible.role: Accessible.ListItem
            Accessible.name: qsTr("%1 %2 %3 %4").arg(row.time).arg(row.request).arg(row.result).arg(row.detail)
        }
    }
}
