// SPDX-License-Identifier: MIT
//
// Web pages that may use the endpoint. Programs need no entry.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property EndpointController endpoint
    property bool wrong: false

    spacing: Theme.step * 3

    function add() {
        wrong = !endpoint.addOrigin(originField.text);
        if (!wrong)
            originField.clear();
    }

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Web pages")
        detail: qsTr("Pages in a browser are refused unless their origin is listed. Programs are not concerned.")
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        Field {
            id: originField

            objectName: "endpointOrigin"
            Layout.fillWidth: true
            Layout.maximumWidth: Theme.columnWidth / 2
            implicitHeight: Theme.controlHeight
            placeholderText: qsTr("https://app.example")
            placeholderTextColor: Theme.dim
            onTextEdited: root.wrong = false
            onAccepted: root.add()

            Accessible.name: qsTr("Origin of a web page")
        }
        TextButton {
            objectName: "endpointAddOrigin"
            text: qsTr("Allow")
            enabled: originField.text.trim() !== ""
            onClicked: root.add()
        }
    }
    UiText {
        objectName: "endpointOriginProblem"
        Layout.fillWidth: true
        visible: root.wrong
        text: qsTr("An origin is a scheme and a host, as in https://app.example or http://localhost:3000.")
        color: Theme.bad
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Repeater {
        model: root.endpoint.origins

        RowLayout {
            id: row

            required property string modelData

            Layout.fillWidth: true
            spacing: Theme.step * 2

            UiText {
                Layout.fillWidth: true
                text: row.modelData
            }
            IconButton {
                objectName: "endpointRemoveOrigin"
                symbol: "delete"
                hint: qsTr("Remove %1").arg(row.modelData)
                onClicked: root.endpoint.removeOrigin(row.modelData)
            }
        }
    }
}
