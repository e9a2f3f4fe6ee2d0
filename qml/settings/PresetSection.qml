// SPDX-License-Identifier: MIT
//
// The presets: which there are, which one new chats start with, and what the chosen one says.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property PresetLibrary presets
    readonly property PresetChip current: chips.count > presets.currentRow ? chips.itemAt(presets.currentRow) as PresetChip : null

    component PresetChip: TextButton {
        required property int index
        required property string name
        required property bool isDefault
        required property bool isStandard
        property bool shown: false

        flat: true
        outlined: true
        text: isDefault ? qsTr("%1 · default").arg(name) : name
        ink: shown ? Theme.accent : Theme.text
        font.weight: shown ? Font.DemiBold : Font.Normal

        Accessible.role: Accessible.RadioButton
        Accessible.checked: shown
    }

    spacing: Theme.step * 5

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Presets")
        detail: qsTr("A system prompt, thinking and sampling under one name. A chat takes a preset and may differ from it.")
    }

    NoticeCard {
        Layout.fillWidth: true
        visible: root.presets.notice !== ""
        title: qsTr("Some presets were mended")
        detail: root.presets.notice
        action: qsTr("Dismiss")
        onTriggered: root.presets.dismissNotice()
    }

    Flow {
        Layout.fillWidth: true
        spacing: Theme.step

        Repeater {
            id: chips

            model: root.presets

            PresetChip {
                objectName: "preset" + index
                shown: index === root.presets.currentRow
                onClicked: root.presets.currentRow = index
            }
        }
        TextButton {
            objectName: "newPreset"
            flat: true
            symbol: "plus"
            text: qsTr("New preset")
            onClicked: {
                root.presets.create();
                nameField.forceActiveFocus();
                nameField.selectAll();
            }
        }
    }

    Flow {
        Layout.fillWidth: true
        spacing: Theme.step * 2

        ValueField {
            id: nameField

            objectName: "presetName"
            name: qsTr("Name of the preset")
            implicitWidth: Math.round(220 * Math.max(1, Theme.fontScale))
            horizontalAlignment: TextInput.AlignLeft
            enabled: !(root.current?.isStandard ?? true)
            value: root.current?.name ?? ""
            onEntered: text => root.presets.rename(root.presets.currentRow, text)
        }
        TextButton {
            objectName: "defaultPreset"
            enabled: !(root.current?.isDefault ?? true)
            text: qsTr("Use for new chats")
            onClicked: root.presets.makeDefault(root.presets.currentRow)
        }
        TextButton {
            objectName: "duplicatePreset"
            text: qsTr("Duplicate")
            onClicked: root.presets.duplicate(root.presets.currentRow)
        }
        TextButton {
            objectName: "deletePreset"
            enabled: !(root.current?.isStandard ?? true)
            text: qsTr("Delete")
            onClicked: root.presets.remove(root.presets.currentRow)
        }
    }
    UiText {
        Layout.fillWidth: true
        visible: root.current?.isStandard ?? true
        text: qsTr("Standard keeps the model's defaults. Duplicate it, or make a new preset, to change something.")
        color: Theme.dim
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    UndoBar {
        Layout.fillWidth: true
        objectName: "presetUndo"
        available: root.presets.canUndoRemove
        deletedTitle: root.presets.removedName
        onUndone: root.presets.undoRemove()
    }

    ParameterList {
        Layout.fillWidth: true
        parameters: root.presets.parameters
    }
}
