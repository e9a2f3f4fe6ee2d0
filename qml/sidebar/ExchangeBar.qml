// SPDX-License-Identifier: MIT
//
// How an export or import goes or went, until it is dismissed.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    required property string words
    property bool running: false

    signal dismissed

    objectName: "exchangeBar"
    implicitHeight: row.implicitHeight + Theme.step * 4
    visible: words !== ""
    radius: Theme.radius
    color: Theme.raised

    Accessible.role: Accessible.AlertMessage
    Accessible.name: words

    RowLayout {
        id: row

        anchors.left: parent.left
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        anchors.leftMargin: Theme.step * 3
        anchors.rightMargin: Theme.step

        UiText {
            Layout.fillWidth: true
            text: root.words
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        LiveDot {
            visible: root.running
            Layout.rightMargin: Theme.step * 2
        }
        IconButton {
            visible: !root.running
            symbol: "close"
            hint: qsTr("Dismiss")
            onClicked: root.dismissed()
        }
    }
}
