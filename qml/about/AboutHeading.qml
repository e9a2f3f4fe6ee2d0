// SPDX-License-Identifier: MIT
//
// A heading of the page "About".
import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

UiText {
    Layout.fillWidth: true
    Layout.topMargin: Theme.step * 4
    font.pixelSize: Theme.readingSize
    font.weight: Font.DemiBold

    Accessible.role: Accessible.Heading
    Accessible.name: text
}
