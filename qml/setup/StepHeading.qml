// SPDX-License-Identifier: MIT
//
// What a step is about: a heading and a sentence.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string heading
    required property string words

    spacing: Theme.step * 2

    UiText {
        Layout.fillWidth: true
        text: root.heading
        font.pixelSize: Theme.titleSize
        font.weight: Font.DemiBold
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: Accessible.Heading
        Accessible.name: text
    }
    UiText {
        Layout.fillWidth: true
        visible: text !== ""
        text: root.words
        color: Theme.dim
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
