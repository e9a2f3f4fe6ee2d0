// SPDX-License-Identifier: MIT
//
// The window: sidebar, chat and panel side by side or over each other, and the shortcuts. `application` is the root of
// everything that is not view state.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App as App
import Firesteel.Ui

ApplicationWindow {
    id: root

    required property App.Application application
    readonly property App.AppSettings settings: application.settings
    readonly property bool systemDark: Application.styleHints.colorScheme === Qt.Dark
    readonly property bool dark: settings.appearance === App.AppSettings.System ? systemDark : settings.appearance === App.AppSettings.Dark

    function toggleSidebar() {
        if (folds.sidebarFits)
            settings.sidebarFolded = !settings.sidebarFolded;
        else
            sidebarDrawer.visible = !sidebarDrawer.visible;
    }

    function togglePanel() {
        if (folds.panelFits)
            settings.panelFolded = !settings.panelFolded;
        else
            panelDrawer.visible = !panelDrawer.visible;
    }

    function newConversation() {
        application.newConversation();
        sidebarDrawer.close();
        page.focusComposer();
    }

    function openConversation(row: int) {
        application.openConversation(row);
        sidebarDrawer.close();
        page.focusComposer();
    }

    function scaleText(by: real) {
        settings.fontScale = by === 0 ? 1 : settings.fontScale + by;
    }

    width: 1280
    height: 800
    minimumWidth: 480
    minimumHeight: 360
    title: qsTr("%1 · Firesteel").arg(application.conversation.title)
    color: Theme.page
    font.family: Theme.sans
    font.pixelSize: Theme.uiSize
    palette {
        window: Theme.page
        windowText: Theme.text
        base: Theme.surface
        text: Theme.text
        button: Theme.raised
        buttonText: Theme.text
        highlight: Theme.accent
        highlightedText: Theme.accentText
        placeholderText: Theme.dim
    }

    Binding {
        target: Theme
        property: "dark"
        value: root.dark
    }
    Binding {
        target: Theme
        property: "fontScale"
        value: root.settings.fontScale
    }
    Binding {
        target: Theme
        property: "reducedMotion"
        value: root.settings.reducedMotion
    }

    WindowFolds {
        id: folds

        width: root.width
        scale: Math.max(1, Theme.fontScale)
        sidebarWanted: !root.settings.sidebarFolded
        panelWanted: !root.settings.panelFolded
    }

    WindowMemory {
        window: root
        settings: root.settings
    }

    Shortcut {
        sequences: [StandardKey.New]
        onActivated: root.newConversation()
    }
    Shortcut {
        sequence: "Ctrl+B"
        onActivated: root.toggleSidebar()
    }
    Shortcut {
        sequence: "Ctrl+Shift+P"
        onActivated: root.togglePanel()
    }
    Shortcut {
        sequence: "Ctrl+L"
        onActivated: page.focusComposer()
    }
    Shortcut {
        sequences: [StandardKey.ZoomIn, "Ctrl+="]
        onActivated: root.scaleText(0.1)
    }
    Shortcut {
        sequences: [StandardKey.ZoomOut]
        onActivated: root.scaleText(-0.1)
    }
    Shortcut {
        sequence: "Ctrl+0"
        onActivated: root.scaleText(0)
    }
    Shortcut {
        sequences: [StandardKey.Quit]
        onActivated: root.close()
    }

    Component {
        id: sidebarComponent

        Sidebar {
            conversations: root.application.conversations
            canUndo: root.application.canUndoDelete
            deletedTitle: root.application.deletedTitle
            onNewRequested: root.newConversation()
            onOpened: row => root.openConversation(row)
            onRenamed: (row, text) => root.application.renameConversation(row, text)
            onDeleted: row => root.application.deleteConversation(row)
            onUndone: root.application.undoDelete()
        }
    }

    Component {
        id: panelComponent

        PerformancePanel {
            engine: root.application.engine
        }
    }

    FocusScope {
        anchors.fill: parent
        focus: true

        Keys.onEscapePressed: event => {
            event.accepted = root.application.conversation.busy;
            root.application.conversation.stop();
        }
        Keys.onPressed: event => {
            if (event.text === "/") {
                page.focusComposer();
                event.accepted = true;
            }
        }

        RowLayout {
            anchors.fill: parent
            spacing: 0

            Loader {
                Layout.fillHeight: true
                Layout.preferredWidth: folds.sidebarWidth
                active: folds.sidebarDocked
                visible: active
                sourceComponent: sidebarComponent
            }
            ColumnLayout {
                Layout.fillWidth: true
                Layout.fillHeight: true
                Layout.minimumWidth: 0
                spacing: 0

                TitleBar {
                    Layout.fillWidth: true
                    title: root.application.conversation.title
                    engine: root.application.engine
                    settings: root.settings
                    sidebarShown: folds.sidebarDocked
                    panelShown: folds.panelDocked
                    onSidebarToggled: root.toggleSidebar()
                    onPanelToggled: root.togglePanel()
                    onNewRequested: root.newConversation()
                }
                ChatPage {
                    id: page

                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    focus: true
                    conversation: root.application.conversation
                    engine: root.application.engine
                    showStatistics: root.settings.showStatistics
                    onNewRequested: root.newConversation()
                }
            }
            Loader {
                Layout.fillHeight: true
                Layout.preferredWidth: folds.panelWidth
                active: folds.panelDocked
                visible: active
                sourceComponent: panelComponent
            }
        }
    }

    SideDrawer {
        id: sidebarDrawer

        objectName: "sidebarDrawer"
        width: folds.sidebarWidth
        height: root.height
        docked: folds.sidebarFits
        page: sidebarComponent
    }
    SideDrawer {
        id: panelDrawer

        edge: Qt.RightEdge
        width: folds.panelWidth
        height: root.height
        docked: folds.panelFits
        page: panelComponent
    }
}
