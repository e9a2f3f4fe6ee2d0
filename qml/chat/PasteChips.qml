// SPDX-License-Identifier: MIT
//
// Long pasted texts that go with the message: a chip each, with what it takes to see it in the message or to leave it out.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Flow {
    id: root

    required property PastedTexts pastes

    signal opened(int row) // to be put into the message
    signal leftOut(int row)

    spacing: Theme.step * 2

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Pasted texts")

    Repeater {
        model: root.pastes

        Rectangle {
            id: chip

            required property int index
            required property string name
            required property string size

            implicitWidth: row.implicitWidth + Theme.step * 4
            implicitHeight: Theme.controlHeight
            radius: Theme.radius
            color: Theme.raised

            Accessible.role: Accessible.ListItem
            Accessible.name: name + ", " + size

            RowLayout {
                id: row

                x: Theme.step * 3
                height: parent.height
                spacing: Theme.step

                UiText {
                    text: chip.name
                    font.weight: Font.DemiBold
                }
                UiText {
                    text: chip.size
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                }
                IconButton {
                    objectName: "openPaste"
                    size: Theme.controlHeight - Theme.step * 2
                    symbol: "rename"
                    hint: qsTr("Put “%1” into the message").arg(chip.name)
                    onClicked: root.opened(chip.index)
                }
                IconButton {
                    objectName: "removePaste"
                    size: Theme.controlHeight - Theme.step * 2
                    symbol: "close"
                    hint: qsTr("Leave out “%1”").arg(chip.name)
                    onClicked: root.leftOut(chip.index)
                }
            }
        }
    }
}
