// SPDX-License-Identifier: MIT
//
// An action of the palette. `keys` tells which keys do the same; the window has the shortcut.
import QtQuick.Controls.Basic

Action {
    property string keys
}
