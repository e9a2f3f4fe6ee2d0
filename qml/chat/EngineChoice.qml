// SPDX-License-Identifier: MIT
//
// Which engine answers in a chat: this machine's or one of the others. Nothing where there are no others.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property ChatOptions options

    visible: options.engines.count > 0 || options.engineNotice !== ""
    spacing: Theme.step

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        UiText {
            text: qsTr("Engine")
            font.weight: Font.DemiBold
        }
        TextButton {
            objectName: "chatEngine"
            Layout.fillWidth: true
            Layout.maximumWidth: Math.ceil(implicitWidth) + 1
            Layout.minimumWidth: 0
            symbol: "chevron-down"
            text: root.options.engineName
            onClicked: menu.open()

            Accessible.name: qsTr("Engine: %1").arg(text)

            PopupMenu {
                id: menu

                objectName: "chatEngineMenu"
                y: parent.height + Theme.step

                MenuEntry {
                    objectName: "chatEngineHere"
                    text: qsTr("This machine")
                    checkable: true
                    checked: root.options.engineId === ""
                    onTriggered: root.options.chooseEngine("")
                }
                Instantiator {
                    model: root.options.engines
                    delegate: MenuEntry {
                        required property string engineId
                        required property string name
                        required property string model

                        objectName: "chatEngine_" + name
                        text: name
                        note: model
                        checkable: true
                        checked: engineId === root.options.engineId
                        onTriggered: root.options.chooseEngine(engineId)
                    }
                    onObjectAdded: (index, object) => menu.insertItem(index + 1, object as MenuItem)
                    onObjectRemoved: (index, object) => menu.removeItem(object as MenuItem)
                }
            }
        }
        Item {
            Layout.fillWidth: true
        }
    }
    UiText {
        objectName: "chatEngineNotice"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.options.engineNotice
        color: Theme.warn
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
