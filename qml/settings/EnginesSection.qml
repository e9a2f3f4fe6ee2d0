// SPDX-License-Identifier: MIT
//
// Other machines' engines that chats may use: a list, and one form for a new one or one that is changed.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property RemoteEngines engines

    signal removalAsked(string engineId, string name)

    spacing: Theme.step * 5
    Component.onDestruction: engines.forgetTest()

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Other engines")
        detail: qsTr("OpenAI-compatible servers, such as vLLM or SGLang on bigger machines, or Firesteel on another Spark. A chat chooses its engine in its settings; what is said in it is sent there.")
    }

    Repeater {
        model: root.engines

        ColumnLayout {
            id: row

            required property int index
            required property string engineId
            required property string name
            required property string address
            required property string model
            required property string keyText
            required property string notice
            required property bool isDefault

            Layout.fillWidth: true
            spacing: Theme.step

            UiText {
                Layout.fillWidth: true
                text: row.isDefault ? qsTr("%1 · new chats use it").arg(row.name) : row.name
                font.weight: Font.DemiBold
            }
            UiText {
                Layout.fillWidth: true
                text: qsTr("%1 at %2. %3").arg(row.model).arg(row.address).arg(row.keyText)
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
            UiText {
                Layout.fillWidth: true
                visible: text !== ""
                text: row.notice
                color: Theme.warn
                font.pixelSize: Theme.smallSize
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
            Flow {
                Layout.fillWidth: true
                spacing: Theme.step * 2

                TextButton {
                    objectName: "editEngine" + row.index
                    text: qsTr("Edit")
                    onClicked: form.edit(row.engineId, row.name, row.address, row.model)

                    Accessible.name: qsTr("Edit %1").arg(row.name)
                }
                TextButton {
                    objectName: "defaultEngine" + row.index
                    text: row.isDefault ? qsTr("Use this machine for new chats") : qsTr("Use for new chats")
                    onClicked: root.engines.makeDefault(row.isDefault ? "" : row.engineId)

                    Accessible.description: row.name
                }
                TextButton {
                    objectName: "removeEngine" + row.index
                    text: qsTr("Remove")
                    onClicked: root.removalAsked(row.engineId, row.name)

                    Accessible.name: qsTr("Remove %1").arg(row.name)
                }
            }
        }
    }

    TextButton {
        id: addButton

        objectName: "addEngine"
        visible: !form.visible
        symbol: "plus"
        text: qsTr("Add an engine")
        onClicked: form.edit("", "", "", "")
    }
    EngineForm {
        id: form

        Layout.fillWidth: true
        engines: root.engines
        onClosed: addButton.forceActiveFocus(Qt.OtherFocusReason)
    }
}
