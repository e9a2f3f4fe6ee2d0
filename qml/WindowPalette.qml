// SPDX-License-Identifier: MIT
//
// The palette with every action of the window. What belongs to the window is asked of it by signals.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App as App
import Firesteel.Ui

ActionPalette {
    id: root

    required property App.Application application

    signal newRequested
    signal chatRequested
    signal findRequested
    signal searchRequested
    signal sidebarToggled
    signal panelToggled
    signal pageRequested(string page)
    signal textScaled(real by) // 0: back to normal
    signal exportRequested
    signal importRequested
    signal quitRequested

    objectName: "actionPalette"
    actions: [
        PaletteAction {
            text: qsTr("New chat")
            keys: qsTr("Ctrl+N")
            onTriggered: root.newRequested()
        },
        PaletteAction {
            text: qsTr("Write a message")
            keys: qsTr("Ctrl+L or /")
            onTriggered: root.chatRequested()
        },
        PaletteAction {
            text: qsTr("Stop the answer")
            keys: qsTr("Escape")
            enabled: root.application.conversation.busy
            onTriggered: root.application.conversation.stop()
        },
        PaletteAction {
            text: qsTr("Find in this chat")
            keys: qsTr("Ctrl+F")
            enabled: !root.application.conversation.empty
            onTriggered: {
                root.chatRequested();
                root.findRequested();
            }
        },
        PaletteAction {
            text: qsTr("Search all chats")
            keys: qsTr("Ctrl+Shift+F")
            onTriggered: root.searchRequested()
        },
        PaletteAction {
            text: qsTr("Show or hide chats")
            keys: qsTr("Ctrl+B")
            onTriggered: root.sidebarToggled()
        },
        PaletteAction {
            text: qsTr("Show or hide performance")
            keys: qsTr("Ctrl+Shift+P")
            onTriggered: root.panelToggled()
        },
        PaletteAction {
            text: qsTr("Models and licences")
            keys: qsTr("Ctrl+Shift+M")
            onTriggered: root.pageRequested("models")
        },
        PaletteAction {
            text: qsTr("Settings")
            keys: qsTr("Ctrl+,")
            onTriggered: root.pageRequested("settings")
        },
        PaletteAction {
            text: qsTr("Benchmark")
            onTriggered: root.pageRequested("benchmark")
        },
        PaletteAction {
            text: qsTr("Endpoint for other programs")
            onTriggered: root.pageRequested("endpoint")
        },
        PaletteAction {
            text: qsTr("Set up Firesteel")
            onTriggered: root.pageRequested("setup")
        },
        PaletteAction {
            text: qsTr("Load the model")
            enabled: root.application.engine.state === App.EngineController.Unloaded || root.application.engine.state === App.EngineController.Failed
            onTriggered: root.application.engine.retry()
        },
        PaletteAction {
            text: qsTr("Unload the model")
            enabled: root.application.engine.state === App.EngineController.Ready
            onTriggered: root.application.engine.unload()
        },
        PaletteAction {
            text: qsTr("Larger text")
            keys: qsTr("Ctrl++")
            onTriggered: root.textScaled(0.1)
        },
        PaletteAction {
            text: qsTr("Smaller text")
            keys: qsTr("Ctrl+-")
            onTriggered: root.textScaled(-0.1)
        },
        PaletteAction {
            text: qsTr("Normal text size")
            keys: qsTr("Ctrl+0")
            onTriggered: root.textScaled(0)
        },
        PaletteAction {
            text: qsTr("Export all chats…")
            enabled: root.application.conversations.count > 0
            onTriggered: root.exportRequested()
        },
        PaletteAction {
            text: qsTr("Import chats…")
            onTriggered: root.importRequested()
        },
        PaletteAction {
            text: qsTr("Open the folder of logs")
            onTriggered: root.application.about.openLogs()
        },
        PaletteAction {
            text: qsTr("About Firesteel")
            onTriggered: root.pageRequested("about")
        },
        PaletteAction {
            text: qsTr("Quit")
            keys: qsTr("Ctrl+Q")
            onTriggered: root.quitRequested()
        }
    ]
}
