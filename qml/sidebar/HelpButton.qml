// SPDX-License-Identifier: MIT
//
// The help menu: what can be done by keyboard, where the logs are, what this program is.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

TextButton {
    id: root

    property bool current: false // its page is shown

    signal actionsRequested
    signal logsRequested
    signal aboutRequested

    objectName: "helpButton"
    flat: true
    listed: true
    text: qsTr("Help")
    ink: current ? Theme.accent : Theme.text
    onClicked: menu.open()

    PopupMenu {
        id: menu

        objectName: "helpMenu"
        y: -height - Theme.step

        MenuEntry {
            text: qsTr("All actions and shortcuts")
            note: qsTr("Ctrl+K")
            onTriggered: root.actionsRequested()
        }
        MenuEntry {
            text: qsTr("Open the folder of logs")
            onTriggered: root.logsRequested()
        }
        MenuEntry {
            text: qsTr("Report a problem")
            onTriggered: root.aboutRequested()
        }
        MenuEntry {
            text: qsTr("About Firesteel")
            onTriggered: root.aboutRequested()
        }
    }
}
