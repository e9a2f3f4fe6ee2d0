// SPDX-License-Identifier: MIT
//
// Where downloaded models live, and a button to choose another folder.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import Firesteel.App as App
import Firesteel.Ui

RowLayout {
    id: root

    required property App.ModelsController models

    spacing: Theme.step * 2

    UiText {
        objectName: "modelsFolderText"
        Layout.fillWidth: true
        text: qsTr("Downloads go to %1").arg(root.models.modelsFolder)
        color: Theme.dim
        wrapMode: Text.WrapAtWordBoundaryOrAnywhere
        elide: Text.ElideNone
    }
    TextButton {
        objectName: "modelsFolderButton"
        flat: true
        text: qsTr("Use another folder…")
        onClicked: folder.open()
    }

    FolderDialog {
        id: folder

        title: qsTr("A folder for downloaded models")
        onAccepted: root.models.setModelsFolder(selectedFolder)
    }
}
