// SPDX-License-Identifier: MIT
//
// A part that others wrote: what it is for, under which licence. Pressed, it shows the licence.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.Ui

AbstractButton {
    id: root

    required property string name
    required property string use
    required property string license

    signal opened

    implicitHeight: content.implicitHeight + Theme.step * 3
    focusPolicy: Qt.StrongFocus
    leftPadding: Theme.step * 2
    rightPadding: Theme.step * 2
    onClicked: opened()

    contentItem: RowLayout {
        id: content

        spacing: Theme.step * 3

        ColumnLayout {
            Layout.fillWidth: true
            spacing: 0

            UiText {
                Layout.fillWidth: true
                text: root.name
            }
            UiText {
                Layout.fillWidth: true
                text: root.use
                color: Theme.dim
                font.pixelSize: Theme.smallSize
            }
        }
        UiText {
            Layout.maximumWidth: root.width / 2
            text: root.license
            color: Theme.dim
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignRight
        }
        Icon {
            symbol: "chevron-right"
        }
    }
    background: Rectangle {
        radius: Theme.radius
        color: root.hovered || root.down ? Theme.hover : "transparent"

        FocusRing {
            control: root
        }
    }

    // As Space does.
    Keys.onPressed: event => {
        event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
        if (event.accepted && !event.isAutoRepeat)
            click();
    }

    Accessible.name: qsTr("%1, %2: show the licence").arg(name).arg(license)
}
