// SPDX-License-Identifier: MIT
//
// Something is wrong with the machine, in a sentence.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

Rectangle {
    id: root

    required property string words

    Layout.fillWidth: true
    Layout.bottomMargin: Theme.step * 3
    implicitHeight: row.implicitHeight + Theme.step * 4
    radius: Theme.radius
    color: Theme.raised
    border.color: Theme.warn

    Accessible.role: Accessible.AlertMessage
    Accessible.name: words

    RowLayout {
        id: row

        x: Theme.step * 2
        y: Theme.step * 2
        width: parent.width - Theme.step * 4
        spacing: Theme.step * 2

        Icon {
            Layout.alignment: Qt.AlignTop
            symbol: "warning"
            color: Theme.warn
        }
        UiText {
            objectName: "panelWarning"
            Layout.fillWidth: true
            text: root.words
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
    }
}
