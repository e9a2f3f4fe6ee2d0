// SPDX-License-Identifier: MIT
//
// Loads what was downloaded, and says how it went.
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
    readonly property bool failed: engine.state === EngineController.Failed || engine.state === EngineController.NoModel

    spacing: Theme.step * 4

    StepHeading {
        Layout.fillWidth: true
        heading: qsTr("Load GLM-5.3-Flash")
        words: !root.setup.downloaded ? qsTr("It is not here yet: download it first.") : qsTr("About 85 GB are read from the disk into memory. Other programs should leave that much free.")
    }
    TextButton {
        objectName: "setupToDownload"
        visible: !root.setup.downloaded
        text: qsTr("Go to the download")
        onClicked: root.setup.show(SetupController.Download)
    }
    TextButton {
        objectName: "setupLoad"
        visible: root.setup.downloaded && !root.setup.inUse
        primary: true
        text: qsTr("Load it")
        onClicked: root.setup.load()
    }
    ColumnLayout {
        Layout.fillWidth: true
        visible: root.setup.downloaded && root.setup.inUse
        spacing: Theme.step * 3

        ModelNotice {
            Layout.fillWidth: true
            engine: root.engine
        }
        UiText {
            objectName: "setupLoaded"
            Layout.fillWidth: true
            visible: root.ready
            text: qsTr("%1 is loaded and runs on %2. Its context holds %3 tokens.").arg(root.engine.modelName).arg(root.engine.backendText).arg(root.engine.contextTokens.toLocaleString(Qt.locale(), "f", 0))
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        TextButton {
            objectName: "setupUseShipped"
            visible: root.failed
            text: qsTr("Use Glimmer instead")
            onClicked: root.models.useShipped()
        }
    }
}
