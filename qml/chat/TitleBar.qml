// SPDX-License-Identifier: MIT
//
// Above the chat: its title, the model with its state, whether other programs use it, the appearance, and the folds of sidebar
// and panel.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App as App
import Firesteel.Ui

Item {
    id: root

    required property string title
    required property App.Application application
    property bool sidebarShown: true
    property bool panelShown: false

    signal sidebarToggled
    signal panelToggled
    signal newRequested
    signal endpointRequested

    implicitHeight: Theme.controlHeight + Theme.step * 4

    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.step * 2
        anchors.rightMargin: Theme.step * 2
        spacing: Theme.step

        IconButton {
            objectName: "sidebarToggle"
            symbol: "sidebar"
            hint: root.sidebarShown ? qsTr("Hide chats (Ctrl+B)") : qsTr("Show chats (Ctrl+B)")
            onClicked: root.sidebarToggled()
        }
        IconButton {
            visible: !root.sidebarShown
            symbol: "plus"
            hint: qsTr("Start a new chat (Ctrl+N)")
            onClicked: root.newRequested()
        }
        UiText {
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            leftPadding: Theme.step * 2
            text: root.title
            font.weight: Font.DemiBold

            Accessible.role: Accessible.Heading
            Accessible.name: text
        }
        ModelChip {
            Layout.fillWidth: false
            Layout.maximumWidth: root.width * 0.5
            engine: root.application.engine
        }
        EndpointSign {
            endpoint: root.application.endpoint
            modelReady: root.application.engine.state === App.EngineController.Ready
            onClicked: root.endpointRequested()
        }
        IconButton {
            objectName: "appearanceButton"
            symbol: Theme.dark ? "moon" : "sun"
            hint: qsTr("Appearance")
            onClicked: appearanceMenu.open()

            AppearanceMenu {
                id: appearanceMenu

                settings: root.application.settings
                x: parent.width - width
                y: parent.height + Theme.step
            }
        }
        IconButton {
            objectName: "panelToggle"
            symbol: "panel"
            hint: root.panelShown ? qsTr("Hide performance (Ctrl+Shift+P)") : qsTr("Show performance (Ctrl+Shift+P)")
            onClicked: root.panelToggled()
        }
    }
}
