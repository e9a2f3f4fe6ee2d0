// SPDX-License-Identifier: MIT
//
// Something told in place: what happened, why, and at most two buttons.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    required property string title
    property string detail
    property string action
    property string alternative // to the action
    property bool quiet: false // nothing failed

    signal triggered
    signal declined

    objectName: "notice"
    implicitWidth: 480
    implicitHeight: row.implicitHeight + Theme.step * 6
    radius: Theme.cardRadius
    color: Theme.surface
    border.color: quiet ? Theme.line : Theme.bad

    Accessible.role: Accessible.AlertMessage
    Accessible.name: title
    Accessible.description: detail

    RowLayout {
        id: row

        x: Theme.step * 4
        y: Theme.step * 3
        width: parent.width - Theme.step * 8
        spacing: Theme.step * 3

        Icon {
            Layout.alignment: Qt.AlignTop
            Layout.topMargin: 2
            visible: !root.quiet
            symbol: "warning"
            color: Theme.bad
        }
        ColumnLayout {
            Layout.fillWidth: true
            spacing: Theme.step

            UiText {
                Layout.fillWidth: true
                text: root.title
                font.weight: Font.DemiBold
            }
            UiText {
                Layout.fillWidth: true
                visible: text !== ""
                text: root.detail
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
        }
        TextButton {
            objectName: "noticeAlternative"
            Layout.alignment: Qt.AlignVCenter
            visible: root.alternative !== ""
            flat: true
            text: root.alternative
            onClicked: root.declined()
        }
        TextButton {
            objectName: "noticeAction"
            Layout.alignment: Qt.AlignVCenter
            visible: root.action !== ""
            text: root.action
            onClicked: root.triggered()
        }
    }
}
