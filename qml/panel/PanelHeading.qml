// SPDX-License-Identifier: MIT
//
// The name of a group of figures.
import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

UiText {
    Layout.fillWidth: true
    Layout.topMargin: Theme.step * 4
    Layout.bottomMargin: Theme.step
    font.weight: Font.DemiBold

    Accessible.role: Accessible.Heading
    Accessible.name: text
}
