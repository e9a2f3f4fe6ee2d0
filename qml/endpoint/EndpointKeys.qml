// SPDX-License-Identifier: MIT
//
// Keys of the endpoint. A new one is shown once, to be copied.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property EndpointController endpoint

    spacing: Theme.step * 3

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Keys")
        detail: qsTr("A program sends its key as “Authorization: Bearer” or “x-api-key”. Only a hash of it is kept, so it is shown once.")
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        Field {
            id: nameField

            objectName: "endpointKeyName"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.columnWidth / 2
            implicitHeight: Theme.controlHeight
            placeholderText: qsTr("Name of the program")
            placeholderTextColor: Theme.dim
            onAccepted: create.clicked()

            Accessible.name: qsTr("Name of the program that gets the key")
        }
        TextButton {
            id: create

            objectName: "endpointCreateKey"
            text: qsTr("Make a key")
            onClicked: {
                root.endpoint.createKey(nameField.text);
                nameField.clear();
            }
        }
    }
    UiText {
        objectName: "endpointKeyProblem"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.endpoint.keyProblem
        color: Theme.bad
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Rectangle {
        Layout.fillWidth: true
        visible: root.endpoint.newKey !== ""
        implicitHeight: fresh.implicitHeight + Theme.step * 6
        radius: Theme.cardRadius
        color: Theme.surface
        border.color: Theme.accent

        RowLayout {
            id: fresh

            x: Theme.step * 4
            y: Theme.step * 3
            width: parent.width - Theme.step * 8
            spacing: Theme.step * 2

            ColumnLayout {
                Layout.fillWidth: true
                spacing: Theme.step

                UiText {
                    Layout.fillWidth: true
                    text: qsTr("Copy the key now; it cannot be shown again.")
                    font.weight: Font.DemiBold
                    wrapMode: Text.Wrap
                }
                UiText {
                    objectName: "endpointNewKey"
                    Layout.fillWidth: true
                    text: root.endpoint.newKey
                    font.family: Theme.mono
                    font.pixelSize: Theme.smallSize
                    wrapMode: Text.WrapAnywhere
                    elide: Text.ElideNone
                }
            }
            CopyButton {
                objectName: "endpointCopyKey"
                hint: qsTr("Copy the key")
                onCopied: root.endpoint.copyNewKey()
            }
            TextButton {
                objectName: "endpointDismissKey"
                text: qsTr("Done")
                onClicked: root.endpoint.dismissNewKey()
            }
        }
    }
    Repeater {
        model: root.endpoint.keys

        RowLayout {
            id: row

            required property endpointKey modelData

            Layout.fillWidth: true
            spacing: Theme.step * 2

            ColumnLayout {
                Layout.fillWidth: true
                spacing: 0

                UiText {
                    Layout.fillWidth: true
                    text: row.modelData.name
                }
                UiText {
                    Layout.fillWidth: true
                    text: row.modelData.detail
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                }
            }
            IconButton {
                objectName: "endpointRemoveKey"
                symbol: "delete"
                hint: qsTr("Remove the key %1").arg(row.modelData.name)
                onClicked: root.endpoint.removeKey(row.modelData.id)
            }
        }
    }
}
