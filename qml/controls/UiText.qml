// SPDX-License-Identifier: MIT
//
// A label of the user interface: plain text, one size, elided.
import QtQuick
import Firesteel.Ui

Text {
    color: Theme.text
    font.family: Theme.sans
    font.pixelSize: Theme.uiSize
    textFormat: Text.PlainText
    elide: Text.ElideRight
    verticalAlignment: Text.AlignVCenter
}
