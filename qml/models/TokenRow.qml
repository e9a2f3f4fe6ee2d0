// SPDX-License-Identifier: MIT
//
// The hub's access token: where it is kept, and a field to give another.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ColumnLayout {
    id: root

    required property string words
    property bool known: false
    property bool own: false // given to Firesteel, so that it can forget it
    property bool editing: false

    signal tokenGiven(string text)

    function edit() {
        editing = true;
        field.text = "";
        field.forceActiveFocus();
    }

    function finish(keep: bool) {
        if (!editing)
            return;
        editing = false;
        if (keep && field.text.trim() !== "")
            tokenGiven(field.text);
        field.text = "";
        change.forceActiveFocus();
    }

    spacing: Theme.step * 2

    RowLayout {
        Layout.fillWidth: true
        visible: !root.editing
        spacing: Theme.step * 2

        UiText {
            Layout.fillWidth: true
            text: root.words
            color: Theme.dim
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        TextButton {
            id: change

            objectName: "tokenButton"
            flat: true
            text: root.known ? qsTr("Use another token…") : qsTr("Add an access token…")
            onClicked: root.edit()
        }
        TextButton {
            objectName: "forgetTokenButton"
            visible: root.own
            flat: true
            text: qsTr("Forget it")
            onClicked: root.tokenGiven("")
        }
    }
    RowLayout {
        Layout.fillWidth: true
        visible: root.editing
        spacing: Theme.step * 2

        Field {
            id: field

            objectName: "tokenField"
            Layout.fillWidth: true
            implicitHeight: Theme.controlHeight
            echoMode: TextInput.Password
            inputMethodHints: Qt.ImhSensitiveData | Qt.ImhNoPredictiveText
            placeholderText: qsTr("hf_…")
            onAccepted: root.finish(true)
            Keys.onEscapePressed: root.finish(false)

            Accessible.name: qsTr("Access token of the hub")
            Accessible.passwordEdit: true
        }
        TextButton {
            text: qsTr("Keep it")
            enabled: field.text.trim() !== ""
            primary: true
            onClicked: root.finish(true)
        }
        TextButton {
            flat: true
            text: qsTr("Cancel")
            onClicked: root.finish(false)
        }
    }
}
