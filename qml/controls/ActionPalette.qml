// SPDX-License-Identifier: MIT
//
// Every action of the window in one list that can be searched, with its keys. The window gives the actions.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.Ui

Popup {
    id: root

    property list<PaletteAction> actions
    readonly property var matches: actions.filter(action => action.enabled && action.text.toLocaleLowerCase().includes(field.text.trim().toLocaleLowerCase()))

    function run(index: int) {
        if (index < 0 || index >= matches.length)
            return;
        const action = matches[index];
        close();
        action.trigger();
    }

    parent: Overlay.overlay
    x: parent ? Math.round((parent.width - width) / 2) : 0
    y: Theme.step * 12
    width: Math.min(Math.round(480 * Math.max(1, Theme.fontScale)), parent ? parent.width - Theme.step * 8 : 480)
    height: Math.min(implicitHeight, parent ? parent.height - Theme.step * 16 : implicitHeight)
    padding: Theme.step * 2
    modal: true
    focus: true
    enter: null
    exit: null
    onAboutToShow: field.clear()
    onOpened: field.forceActiveFocus()

    Overlay.modal: Rectangle {
        color: Theme.scrim
    }
    background: Rectangle {
        color: Theme.surface
        border.color: Theme.line
        radius: Theme.cardRadius
    }

    contentItem: ColumnLayout {
        spacing: Theme.step

        Accessible.role: Accessible.Dialog
        Accessible.name: qsTr("All actions")

        Field {
            id: field

            objectName: "paletteField"
            Layout.fillWidth: true
            placeholderText: qsTr("What do you want to do?")
            onTextEdited: list.currentIndex = 0
            Keys.onDownPressed: list.incrementCurrentIndex()
            Keys.onUpPressed: list.decrementCurrentIndex()
            Keys.onReturnPressed: root.run(list.currentIndex)
            Keys.onEnterPressed: root.run(list.currentIndex)

            Accessible.name: placeholderText
        }
        ListView {
            id: list

            objectName: "paletteList"
            Layout.fillWidth: true
            Layout.fillHeight: true
            implicitHeight: contentHeight
            clip: true
            model: root.matches
            currentIndex: 0
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: ThinScrollBar {}

            Accessible.role: Accessible.List
            Accessible.name: qsTr("Actions")

            delegate: ItemDelegate {
                id: entry

                required property PaletteAction modelData
                required property int index

                width: list.width
                height: Theme.controlHeight
                leftPadding: Theme.step * 2
                rightPadding: Theme.step * 4
                highlighted: ListView.isCurrentItem
                onClicked: root.run(index)

                contentItem: RowLayout {
                    spacing: Theme.step * 3

                    UiText {
                        Layout.fillWidth: true
                        text: entry.modelData.text
                    }
                    UiText {
                        text: entry.modelData.keys
                        color: Theme.dim
                        font.pixelSize: Theme.smallSize
                    }
                }
                background: Rectangle {
                    radius: Theme.radius - 2
                    color: entry.highlighted || entry.hovered ? Theme.hover : "transparent"
                }

                Accessible.name: entry.modelData.keys === "" ? entry.modelData.text : entry.modelData.text + ", " + entry.modelData.keys
            }
        }
        UiText {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            visible: list.count === 0
            text: qsTr("No action has such a name.")
            color: Theme.dim
        }
    }
}
