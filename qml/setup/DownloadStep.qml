// SPDX-License-Identifier: MIT
//
// The downloads on their way, and the chat meanwhile.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property SetupController setup
    required property ModelsController models
    required property EngineController engine

    readonly property bool ready: engine.state === EngineController.Ready

    signal chatChosen

    spacing: Theme.step * 4

    ModelsStep {
        Layout.fillWidth: true
        models: root.models
        heading: root.setup.downloaded ? qsTr("GLM-5.3-Flash is here") : qsTr("Download GLM-5.3-Flash")
        words: root.setup.downloaded ? qsTr("Every file was verified.") : root.setup.accepted ? qsTr("You can leave this page, close Firesteel or switch the computer off: the download goes on where it was.") : qsTr("Read and accept its licence first: that begins the download.")
    }
    RowLayout {
        Layout.fillWidth: true
        visible: !root.setup.downloaded && root.ready
        spacing: Theme.step * 2

        UiText {
            Layout.fillWidth: true
            text: qsTr("%1 answers meanwhile.").arg(root.engine.modelName)
            color: Theme.dim
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        TextButton {
            objectName: "setupChatMeanwhile"
            text: qsTr("Chat meanwhile")
            onClicked: root.chatChosen()
        }
    }
}
