// SPDX-License-Identifier: MIT
//
// The model's name and what it is doing, in one line.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

RowLayout {
    id: root

    required property EngineController engine

    readonly property bool ready: engine.state === EngineController.Ready
    readonly property bool failed: engine.state === EngineController.Failed || engine.state === EngineController.NoModel

    spacing: Theme.step * 2

    Accessible.role: Accessible.StaticText
    Accessible.name: qsTr("Model: %1 %2").arg(engine.modelName).arg(engine.stateText)

    Rectangle {
        Layout.leftMargin: Theme.step * 2
        implicitWidth: Theme.step * 2
        implicitHeight: implicitWidth
        radius: width / 2
        color: root.ready ? Theme.good : root.failed ? Theme.bad : root.engine.state === EngineController.Unloaded ? Theme.dim : Theme.warn
    }
    UiText {
        visible: text !== ""
        text: root.engine.modelName
    }
    UiText {
        Layout.fillWidth: true
        Layout.maximumWidth: Math.ceil(implicitWidth) + 1
        Layout.minimumWidth: 0
        Layout.rightMargin: Theme.step * 2
        text: root.ready ? root.engine.backendText : root.engine.stateText
        color: Theme.dim
    }

    HoverHandler {
        id: hover
    }

    Tip {
        visible: hover.hovered && text !== ""
        text: root.ready ? root.engine.backendNote : root.engine.errorText
    }
}
