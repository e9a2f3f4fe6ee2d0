// SPDX-License-Identifier: MIT
//
// One symbolic icon in one colour, for places that are not buttons.
import QtQuick
import QtQuick.Controls.impl
import Firesteel.Ui

IconImage {
    id: root

    property string symbol
    property int size: Math.round(16 * Theme.fontScale)

    width: size
    height: size
    sourceSize: Qt.size(size, size)
    source: symbol === "" ? "" : Theme.icon(symbol)
    color: Theme.dim
}
