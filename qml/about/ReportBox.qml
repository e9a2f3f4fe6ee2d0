// SPDX-License-Identifier: MIT
//
// The lines for a problem report, to look through and copy.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    required property string report

    signal copied

    Layout.fillWidth: true
    implicitHeight: lines.implicitHeight + Theme.step * 6
    radius: Theme.radius
    color: Theme.raised

    UiText {
        id: lines

        x: Theme.step * 3
        y: Theme.step * 3
        width: copy.x - x - Theme.step * 2
        text: root.report
        font.family: Theme.mono
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    CopyButton {
        id: copy

        objectName: "copyReport"
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.margins: Theme.step
        hint: qsTr("Copy the lines for a problem report")
        onCopied: root.copied()
    }
}
