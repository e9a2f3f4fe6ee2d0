// SPDX-License-Identifier: MIT
//
// "Today", "Yesterday": the heading of a section of the conversation list.
import QtQuick
import Firesteel.Ui

UiText {
    required property string section

    width: ListView.view ? ListView.view.width : implicitWidth
    leftPadding: Theme.step * 4
    topPadding: Theme.step * 3
    bottomPadding: Theme.step
    text: section
    color: Theme.dim
    font.pixelSize: Theme.smallSize

    Accessible.role: Accessible.Heading
    Accessible.name: text
}
