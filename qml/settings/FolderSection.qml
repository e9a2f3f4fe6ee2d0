// SPDX-License-Identifier: MIT
//
// Where things are kept, and the way back to the defaults.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property ModelsController models
    required property url dataFolder

    signal defaultsRequested

    function pathOf(folder: url): string {
        return decodeURIComponent(folder.toString().replace(/^file:\/\//, ""));
    }

    spacing: Theme.step * 5

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Folders")
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Chats and presets")
        hint: root.pathOf(root.dataFolder)

        TextButton {
            objectName: "openDataFolder"
            text: qsTr("Open folder")
            onClicked: Qt.openUrlExternally(root.dataFolder)
        }
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Models")
        hint: qsTr("%1. Models that are elsewhere stay where they are.").arg(root.models.modelsFolder)

        TextButton {
            objectName: "openModelsFolder"
            text: qsTr("Open folder")
            onClicked: Qt.openUrlExternally("file://" + root.models.modelsFolder)
        }
        TextButton {
            objectName: "changeModelsFolder"
            text: qsTr("Change…")
            onClicked: folders.open()
        }
    }

    SectionTitle {
        Layout.fillWidth: true
        Layout.topMargin: Theme.step * 4
        title: qsTr("Defaults")
    }
    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Restore defaults")
        hint: qsTr("Your chats, presets and models are not changed.")

        TextButton {
            objectName: "restoreDefaults"
            text: qsTr("Restore defaults")
            onClicked: root.defaultsRequested()
        }
    }

    FolderDialog {
        id: folders

        title: qsTr("Where models are downloaded to")
        currentFolder: "file://" + root.models.modelsFolder
        onAccepted: root.models.setModelsFolder(selectedFolder)
    }
}
