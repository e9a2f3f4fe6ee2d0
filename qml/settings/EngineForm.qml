// SPDX-License-Identifier: MIT
//
// Where another machine's engine is and which of its models is meant; its server names them when it is asked. The key is
// never shown again once it is kept.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property RemoteEngines engines
    property string engineId // empty: a new one
    property string model
    property string problem

    signal closed

    component FormField: Field {
        id: field

        required property string label

        Layout.fillWidth: true
        implicitHeight: Theme.controlHeight
        placeholderText: label
        placeholderTextColor: Theme.dim
        Keys.onEscapePressed: root.close()

        Accessible.name: label
    }

    function edit(id: string, name: string, address: string, model: string) {
        engines.forgetTest();
        engineId = id;
        nameField.text = name;
        addressField.text = address;
        keyField.text = "";
        root.model = model;
        problem = "";
        visible = true;
        nameField.forceActiveFocus(Qt.OtherFocusReason);
    }

    function close() {
        engines.forgetTest();
        keyField.text = "";
        visible = false;
        closed();
    }

    function test() {
        problem = "";
        engines.test(engineId, addressField.text, keyField.text);
    }

    function save() {
        problem = engines.save(engineId, nameField.text, addressField.text, model, keyField.text);
        if (problem === "")
            close();
    }

    visible: false
    spacing: Theme.step * 2

    Connections {
        function onTestChanged() {
            const found = root.engines.testModels;
            if (found.length > 0 && !found.includes(root.model))
                root.model = found[0];
        }

        target: root.engines
    }

    FormField {
        id: nameField

        objectName: "engineName"
        label: qsTr("Name, as in Two Sparks")
    }
    FormField {
        id: addressField

        objectName: "engineAddress"
        label: qsTr("Address, as in http://spark:8000")
        inputMethodHints: Qt.ImhUrlCharactersOnly
        onAccepted: root.test()
    }
    UiText {
        objectName: "engineNotice"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.engines.noticeOf(addressField.text)
        color: Theme.warn
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    FormField {
        id: keyField

        objectName: "engineKey"
        label: root.engineId === "" ? qsTr("Key, if the server wants one") : qsTr("Another key; left empty, the one it has stays")
        echoMode: TextInput.Password
        inputMethodHints: Qt.ImhSensitiveData | Qt.ImhNoPredictiveText
        onAccepted: root.test()

        Accessible.passwordEdit: true
    }
    UiText {
        objectName: "engineTestText"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.engines.testText
        color: root.engines.testFailed ? Theme.bad : Theme.dim
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: root.engines.testFailed ? Accessible.AlertMessage : Accessible.StaticText
        Accessible.name: text
    }
    ChoiceRow {
        objectName: "engineModel"
        Layout.fillWidth: true
        visible: choices.length > 0
        name: qsTr("Model")
        choices: root.engines.testModels.length > 0 ? root.engines.testModels : root.model !== "" ? [root.model] : []
        current: choices.indexOf(root.model)
        onPicked: choice => root.model = choices[choice]
    }
    UiText {
        objectName: "engineProblem"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.problem
        color: Theme.bad
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }
    Flow {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        TextButton {
            objectName: "testEngine"
            text: qsTr("Test")
            enabled: !root.engines.testing && addressField.text.trim() !== ""
            onClicked: root.test()

            Accessible.description: qsTr("Asks the server for its models")
        }
        TextButton {
            objectName: "saveEngine"
            primary: true
            text: qsTr("Keep it")
            onClicked: root.save()
        }
        TextButton {
            flat: true
            text: qsTr("Cancel")
            onClicked: root.close()
        }
    }
}
