// SPDX-License-Identifier: MIT
//
// The conversations: new, search, export and import over the list, what was just done under it. Shown docked or in a drawer
// by Main.qml.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    required property ConversationListModel conversations
    required property ConversationSearchModel search
    property bool searchShown: false
    property bool canUndo: false
    property string shownPage: "" // see Main
    property bool setupUnfinished: false
    property string deletedTitle
    property string exchangeText
    property bool exchanging: false

    signal newRequested
    signal opened(int row)
    signal hitOpened(int row)
    signal renamed(int row, string title)
    signal deleted(int row)
    signal undone
    signal searchToggled(bool shown)
    signal exportRequested(string conversationId, string title, string suffix) // no id: all of them
    signal importRequested
    signal exchangeDismissed
    signal pageRequested(string page)
    signal actionsRequested
    signal logsRequested

    function focusSearch() {
        field.forceActiveFocus();
        field.selectAll();
    }

    color: Theme.surface
    onSearchShownChanged: {
        if (searchShown)
            focusSearch();
        else
            search.query = "";
    }
    Component.onCompleted: {
        if (searchShown)
            focusSearch();
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Chats")

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        RowLayout {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            spacing: Theme.step

            TextButton {
                id: newButton

                Layout.fillWidth: true
                Layout.minimumWidth: 0
                text: qsTr("New chat")
                symbol: "plus"
                onClicked: root.newRequested()

                Tip {
                    text: qsTr("Start a new chat (Ctrl+N)")
                    visible: newButton.hovered
                }
            }
            IconButton {
                objectName: "searchButton"
                symbol: "search"
                hint: root.searchShown ? qsTr("Close the search") : qsTr("Search all chats (Ctrl+Shift+F)")
                checkable: true
                checked: root.searchShown
                onToggled: root.searchToggled(checked)
            }
            IconButton {
                objectName: "moreButton"
                symbol: "more"
                hint: qsTr("Export and import")
                onClicked: moreMenu.open()

                PopupMenu {
                    id: moreMenu

                    objectName: "moreMenu"
                    x: parent.width - width
                    y: parent.height + Theme.step

                    MenuEntry {
                        text: qsTr("Export all chats…")
                        enabled: !root.exchanging && root.conversations.count > 0
                        onTriggered: root.exportRequested("", "", "json")
                    }
                    MenuEntry {
                        text: qsTr("Import chats…")
                        enabled: !root.exchanging
                        onTriggered: root.importRequested()
                    }
                }
            }
        }

        Field {
            id: field

            objectName: "searchField"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            Layout.bottomMargin: Theme.step
            visible: root.searchShown
            placeholderText: qsTr("Search all chats")
            text: root.search.query
            onTextEdited: root.search.query = text
            Keys.onEscapePressed: root.searchToggled(false)
            Keys.onDownPressed: hits.forceActiveFocus()
            Keys.onReturnPressed: hits.forceActiveFocus()
            Keys.onEnterPressed: hits.forceActiveFocus()

            Accessible.name: placeholderText
        }

        ConversationList {
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: !hits.visible
            conversations: root.conversations
            onOpened: row => root.opened(row)
            onRenamed: (row, title) => root.renamed(row, title)
            onExportRequested: (conversationId, title, suffix) => root.exportRequested(conversationId, title, suffix)
            onDeleted: row => root.deleted(row)
        }

        SearchHits {
            id: hits

            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: root.searchShown && root.search.query.trim() !== ""
            search: root.search
            onOpened: row => root.hitOpened(row)
            Keys.onEscapePressed: root.searchToggled(false)
        }

        ExchangeBar {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            words: root.exchangeText
            running: root.exchanging
            onDismissed: root.exchangeDismissed()
        }

        UndoBar {
            Layout.fillWidth: true
            Layout.margins: Theme.step * 2
            available: root.canUndo
            deletedTitle: root.deletedTitle
            onUndone: root.undone()
        }
        TextButton {
            objectName: "setupButton"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            visible: root.setupUnfinished
            flat: true
            listed: true
            text: qsTr("Go on setting up")
            ink: root.shownPage === "setup" ? Theme.accent : Theme.text
            onClicked: root.pageRequested("setup")
        }
        TextButton {
            id: toolsButton

            objectName: "toolsButton"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            flat: true
            listed: true
            text: qsTr("Tools")
            ink: root.shownPage === "benchmark" ? Theme.accent : Theme.text
            onClicked: toolsMenu.open()

            ToolsMenu {
                id: toolsMenu

                objectName: "toolsMenu"
                y: -height
                onPageRequested: page => root.pageRequested(page)
            }
        }
        TextButton {
            id: modelsButton

            objectName: "modelsButton"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            flat: true
            listed: true
            text: qsTr("Models")
            ink: root.shownPage === "models" ? Theme.accent : Theme.text
            onClicked: root.pageRequested("models")

            Tip {
                text: qsTr("Models and licences (Ctrl+Shift+M)")
                visible: modelsButton.hovered
            }
        }
        TextButton {
            id: settingsButton

            objectName: "settingsButton"
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            flat: true
            listed: true
            text: qsTr("Settings")
            ink: root.shownPage === "settings" ? Theme.accent : Theme.text
            onClicked: root.pageRequested("settings")

            Tip {
                text: qsTr("Settings (Ctrl+,)")
                visible: settingsButton.hovered
            }
        }
        HelpButton {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 2
            Layout.bottomMargin: Theme.step * 2
            current: root.shownPage === "about"
            onActionsRequested: root.actionsRequested()
            onLogsRequested: root.logsRequested()
            onAboutRequested: root.pageRequested("about")
        }
    }

    Rectangle {
        anchors.right: parent.right
        width: 1
        height: parent.height
        color: Theme.line
    }
}
