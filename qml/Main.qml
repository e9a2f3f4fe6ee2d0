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
    // Beside the chat: a page of WindowPages. Empty: the chat.
    property string shownPage: ""
    property bool searchShown: false
    property alias settingsSection: pageLoader.settingsSection

    signal searchStarted

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
        showChat();
    }

    function openConversation(row: int) {
        application.openConversation(row);
        showChat();
    }

    function showChat() {
        if (shownPage === "setup")
            application.setup.leave();
        shownPage = "";
        sidebarDrawer.close();
        page.focusComposer();
    }

    function openHit(row: int) {
        application.openSearchHit(row);
        showChat();
    }

    function startSearch() {
        if (folds.sidebarFits)
            settings.sidebarFolded = false;
        else
            sidebarDrawer.open();
        searchShown = true;
        searchStarted();
    }

    function showPage(page: string) {
        sidebarDrawer.close();
        shownPage = page;
        pageLoader.forceActiveFocus();
    }

    function showPresets() {
        settingsSection = 1;
        showPage("settings");
    }

    width: 1280
    height: 800
    minimumWidth: 480
    minimumHeight: 360
    title: application.conversation.title !== "" ? qsTr("%1 · Firesteel").arg(application.conversation.title) : "Firesteel"
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

    onSearchShownChanged: if (!searchShown && shownPage === "") page.focusComposer()
    Component.onCompleted: if (application.setup.wanted)
        showPage("setup")

    WindowTheme {
        id: theme

        settings: root.settings
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

    WindowShortcuts {
        onNewRequested: root.newConversation()
        onSidebarToggled: root.toggleSidebar()
        onPanelToggled: root.togglePanel()
        onFindStarted: page.startFind()
        onSearchStarted: root.startSearch()
        onChatRequested: root.showChat()
        onPageRequested: page => root.showPage(page)
        onActionsRequested: actionPalette.open()
        onTextScaled: by => theme.scaleText(by)
        onClosed: root.close()
    }

    Component {
        id: sidebarComponent

        WindowSidebar {
            id: sidebar

            application: root.application
            searchShown: root.searchShown
            onNewRequested: root.newConversation()
            onOpened: row => root.openConversation(row)
            onHitOpened: row => root.openHit(row)
            onSearchToggled: shown => root.searchShown = shown
            onExportRequested: (conversationId, title, suffix) => exchange.askExport(conversationId, title, suffix)
            onImportRequested: exchange.askImport()
            shownPage: root.shownPage
            onPageRequested: page => root.showPage(page)
            onActionsRequested: actionPalette.open()

            Connections {
                function onSearchStarted() {
                    sidebar.focusSearch();
                }

                target: root
            }
        }
    }

    Component {
        id: panelComponent

        PerformancePanel {
            engine: root.application.engine
            monitor: root.application.monitor
            remote: root.application.remoteMonitor
        }
    }

    WindowPalette {
        id: actionPalette

        application: root.application
        onNewRequested: root.newConversation()
        onChatRequested: root.showChat()
        onFindRequested: page.startFind()
        onSearchRequested: root.startSearch()
        onSidebarToggled: root.toggleSidebar()
        onPanelToggled: root.togglePanel()
        onPageRequested: page => root.showPage(page)
        onTextScaled: by => theme.scaleText(by)
        onExportRequested: exchange.askExport("", "", "json")
        onImportRequested: exchange.askImport()
        onQuitRequested: root.close()
    }

    ExchangeDialogs {
        id: exchange

        application: root.application
    }

    App.FocusKeeper {
        home: root.shownPage === "" ? page : pageLoader
    }
    FocusScope {
        anchors.fill: parent
        focus: true

        Keys.onEscapePressed: event => {
            if (root.shownPage !== "")
                root.showChat();
            else
                event.accepted = root.application.stopWork();
        }
        Keys.onPressed: event => {
            if (event.text === "/" && root.shownPage === "") {
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
                    title: root.shownPage === "" ? root.application.conversation.title : pageLoader.title
                    application: root.application
                    sidebarShown: folds.sidebarDocked
                    panelShown: folds.panelDocked
                    onSidebarToggled: root.toggleSidebar()
                    onPanelToggled: root.togglePanel()
                    onNewRequested: root.newConversation()
                    onEndpointRequested: root.showPage("endpoint")
                }
                ChatPage {
                    id: page

                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    visible: root.shownPage === ""
                    focus: true
                    conversation: root.application.conversation
                    engine: root.application.engine
                    database: root.application.database
                    showStatistics: root.settings.showStatistics
                    onNewRequested: root.newConversation()
                    onPresetsRequested: root.showPresets()
                }
                WindowPages {
                    id: pageLoader

                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    application: root.application
                    page: root.shownPage
                    onClosed: root.showChat()
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
