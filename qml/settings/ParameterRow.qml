// SPDX-License-Identifier: MIT
//
// One parameter of an answer: what applies, whether it was chosen, and the way back to what applies otherwise.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property ParameterListModel parameters
    required property int index
    required property string key
    required property int kind
    required property string label
    required property string hint
    required property bool chosen
    required property string text
    required property real number
    required property bool checked
    required property string otherwise
    required property real least
    required property real greatest
    required property real step
    required property string note
    required property list<string> choices
    readonly property bool inLine: kind !== ParameterListModel.Text && kind !== ParameterListModel.Lines

    spacing: Theme.step

    SettingRow {
        Layout.fillWidth: true
        label: root.label
        hint: root.hint
        note: root.note

        Loader {
            visible: root.inLine
            sourceComponent: {
                switch (root.kind) {
                case ParameterListModel.Real:
                    return realEditor;
                case ParameterListModel.Integer:
                    return numberEditor;
                case ParameterListModel.Flag:
                    return flagEditor;
                case ParameterListModel.Choice:
                    return choiceEditor;
                default:
                    return null;
                }
            }
        }
    }
    Loader {
        Layout.fillWidth: true
        visible: !root.inLine
        active: visible
        sourceComponent: textEditor
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        Rectangle {
            visible: root.chosen
            implicitWidth: Theme.step * 1.5
            implicitHeight: implicitWidth
            radius: width / 2
            color: Theme.accent
        }
        UiText {
            objectName: root.key + "State"
            Layout.fillWidth: true
            text: root.chosen ? qsTr("Changed here. %1").arg(root.otherwise) : root.otherwise
            color: Theme.dim
            font.pixelSize: Theme.smallSize
        }
        IconButton {
            objectName: root.key + "Reset"
            visible: root.parameters.editable
            enabled: root.chosen
            opacity: root.chosen ? 1 : 0
            size: Theme.controlHeight - Theme.step * 2
            symbol: "regenerate"
            hint: qsTr("Back to “%1”").arg(root.otherwise)
            onClicked: root.parameters.reset(root.index)
        }
    }

    Component {
        id: realEditor

        RowLayout {
            spacing: Theme.step * 3

            SliderBar {
                objectName: root.key + "Slider"
                name: root.label
                enabled: root.parameters.editable
                from: root.least
                to: root.greatest
                stepSize: root.step
                value: root.number
                onMoved: root.parameters.setNumber(root.index, Math.round(value / root.step) * root.step)
            }
            ValueField {
                objectName: root.key + "Field"
                name: root.label
                enabled: root.parameters.editable
                value: root.text
                onEntered: text => root.parameters.setText(root.index, text)
                onStepped: by => root.parameters.setNumber(root.index, Math.round((root.number + by * root.step) * 1e6) / 1e6)
            }
        }
    }
    Component {
        id: numberEditor

        ValueField {
            objectName: root.key + "Field"
            name: root.label
            implicitWidth: Math.round(128 * Math.max(1, Theme.fontScale))
            enabled: root.parameters.editable
            value: root.text
            onEntered: text => root.parameters.setText(root.index, text)
            onStepped: by => root.parameters.setNumber(root.index, root.number + by * root.step)
        }
    }
    Component {
        id: flagEditor

        Toggle {
            objectName: root.key + "Toggle"
            name: root.label
            enabled: root.parameters.editable
            checked: root.checked
            onToggled: {
                root.parameters.setChecked(root.index, checked);
                checked = Qt.binding(() => root.checked);
            }
        }
    }
    Component {
        id: choiceEditor

        ChoiceRow {
            objectName: root.key + "Choice"
            name: root.label
            enabled: root.parameters.editable
            choices: root.choices
            current: root.number
            onPicked: choice => root.parameters.setNumber(root.index, choice)
        }
    }
    Component {
        id: textEditor

        AreaField {
            inputName: root.key + "Area"
            name: root.label
            editable: root.parameters.editable
            value: root.text
            fixedPitch: root.kind === ParameterListModel.Lines
            placeholder: root.kind === ParameterListModel.Lines ? qsTr("None") : qsTr("No system prompt")
            leastLines: root.kind === ParameterListModel.Lines ? 2 : 3
            onTyped: text => root.parameters.setText(root.index, text)
        }
    }
}
