// SPDX-License-Identifier: MIT
//
// The state of the model while it is not ready: looking, none, loading, failed; with what can be done about it.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

Item {
    id: root

    required property EngineController engine

    implicitHeight: loader.item ? (loader.item as Item).implicitHeight : 0

    Loader {
        id: loader

        width: parent.width
        sourceComponent: {
            switch (root.engine.state) {
            case EngineController.NoModel:
                return noModel;
            case EngineController.Failed:
                return failed;
            case EngineController.Unloaded:
                return unloaded;
            case EngineController.Ready:
                return null;
            default:
                return loading;
            }
        }
    }

    Component {
        id: noModel

        NoticeCard {
            title: qsTr("Firesteel needs a model")
            detail: qsTr("%1 Start it with --model and the folder of a model, or set FIRESTEEL_MODEL to that folder.").arg(root.engine.errorText)
            action: qsTr("Look again")
            onTriggered: root.engine.retry()
        }
    }

    Component {
        id: failed

        NoticeCard {
            title: qsTr("The model is not loaded")
            detail: root.engine.errorText
            action: qsTr("Try again")
            onTriggered: root.engine.retry()
        }
    }

    Component {
        id: unloaded

        NoticeCard {
            quiet: true
            title: qsTr("No model is loaded")
            detail: root.engine.errorText
            action: qsTr("Load the model")
            onTriggered: root.engine.retry()
        }
    }

    Component {
        id: loading

        LoadProgress {
            words: root.engine.loadStage !== "" ? root.engine.loadStage : root.engine.stateText
            fraction: root.engine.loadFraction
            determinate: root.engine.state === EngineController.Loading
            stoppable: true
            onStopped: root.engine.unload()
        }
    }
}
