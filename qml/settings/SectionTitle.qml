// SPDX-License-Identifier: MIT
//
// Above a group of settings: its name, and a sentence about it.
import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string title
    property string detail

    spacing: 2

    UiText {
        Layout.fillWidth: true
        text: root.title
        font.pixelSize: Theme.readingSize
        font.weight: Font.DemiBold

        Accessible.role: Accessible.Heading
        Accessible.name: text
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
