// SPDX-License-Identifier: MIT
//
// A card over the window for the two things that may interrupt: consent, and destruction without undo. Its content goes into
// a column, `footer` below it; Escape closes it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.Ui

Popup {
    id: root

    required property string heading
    property string detail
    property alias footer: bottom.data
    default property alias content: middle.data

    parent: Overlay.overlay
    anchors.centerIn: parent
    width: Math.min(Math.round(640 * Math.max(1, Theme.fontScale)), parent ? parent.width - Theme.step * 8 : 640)
    height: Math.min(implicitHeight, parent ? parent.height - Theme.step * 8 : implicitHeight)
    padding: Theme.step * 6
    modal: true
    focus: true
    closePolicy: Popup.CloseOnEscape
    enter: null
    exit: null

    Overlay.modal: Rectangle {
        color: Theme.scrim
    }
    background: Rectangle {
        color: Theme.surface
        border.color: Theme.line
        radius: Theme.cardRadius
    }

    contentItem: ColumnLayout {
        spacing: Theme.step * 4

        Accessible.role: Accessible.Dialog
        Accessible.name: root.heading

        ColumnLayout {
            Layout.fillWidth: true
            spacing: Theme.step

            UiText {
                Layout.fillWidth: true
                text: root.heading
                font.pixelSize: Theme.readingSize
                font.weight: Font.DemiBold
                wrapMode: Text.Wrap
                elide: Text.ElideNone

                Accessible.role: Accessible.Heading
                Accessible.name: text
            }
            UiText {
                Layout.fillWidth: true
                visible: text !== ""
                text: root.detail
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
        }
        // As high as its content, or scrolled where the window is low.
        Flickable {
            id: scroll

            Layout.fillWidth: true
            Layout.fillHeight: true
            implicitHeight: middle.implicitHeight
            contentHeight: Math.max(height, middle.implicitHeight)
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            visible: middle.implicitHeight > 0
            ScrollBar.vertical: ThinScrollBar {}

            ColumnLayout {
                id: middle

                width: scroll.width - (scroll.contentHeight > scroll.height ? Theme.step * 3 : 0)
                height: scroll.contentHeight
                spacing: Theme.step * 3
            }
        }
        ColumnLayout {
            id: bottom

            Layout.fillWidth: true
        }
    }
}
