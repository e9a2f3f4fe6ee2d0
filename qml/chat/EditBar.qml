// SPDX-License-Identifier: MIT
//
// Says that what is being written replaces an earlier message, and offers to leave that alone.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

RowLayout {
    id: root

    signal cancelled

    objectName: "editBar"
    spacing: Theme.step * 2

    Accessible.role: Accessible.AlertMessage
    Accessible.name: words.text

    Icon {
        symbol: "rename"
    }
    UiText {
        id: words

        Layout.fillWidth: true
        text: qsTr("Editing a message. It and its answer stay as another version.")
        color: Theme.dim
    }
    TextButton {
        objectName: "cancelEdit"
        flat: true
        text: qsTr("Cancel")
        onClicked: root.cancelled()
    }
}
