// SPDX-License-Identifier: MIT
//
// The models on this machine and those that can be had: download, licence, use, remove; folders of one's own; where models
// live; the access token. Shown by Main.qml in place of the chat.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Dialogs
import QtQuick.Layouts
import Firesteel.App as App
import Firesteel.Ui

FocusScope {
    id: root

    required property App.ModelsController models
    required property App.EngineController engine

    signal closed

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Models")

    ListView {
        id: list

        objectName: "modelsList"
        readonly property real column: width - leftMargin - rightMargin

        function stayAtTop() {
            forceLayout();
            if (contentY - originY < headerItem.height)
                positionViewAtBeginning();
        }

        anchors.fill: parent
        focus: true
        currentIndex: -1 // the keyboard is for the controls of the cards
        leftMargin: Math.max(Theme.step * 4, (width - Theme.columnWidth) / 2)
        rightMargin: leftMargin
        onLeftMarginChanged: contentX = -leftMargin
        clip: true
        spacing: Theme.step * 3
        model: root.models.list
        boundsBehavior: Flickable.StopAtBounds
        // Every card is a group of controls that Tab walks through.
        keyNavigationEnabled: false
        cacheBuffer: 4000
        ScrollBar.vertical: ThinScrollBar {}

        Accessible.role: Accessible.List
        Accessible.name: qsTr("Models")

        header: Column {
            width: list.column
            // It grows upwards when something is told in it: who was at the top stays there.
            onHeightChanged: Qt.callLater(list.stayAtTop)
            topPadding: Theme.step * 4
            bottomPadding: Theme.step * 4
            spacing: Theme.step * 4

            RowLayout {
                width: parent.width
                spacing: Theme.step * 2

                UiText {
                    Layout.fillWidth: true
                    text: qsTr("What answers you. Everything stays on this computer.")
                    color: Theme.dim
                    wrapMode: Text.Wrap
                }
                TextButton {
                    objectName: "addFolderButton"
                    focus: true // where Tab goes on from
                    text: qsTr("Add a folder…")
                    symbol: "plus"
                    onClicked: folders.open()
                }
                TextButton {
                    objectName: "modelsBack"
                    flat: true
                    text: qsTr("Back to the chat")
                    onClicked: root.closed()
                }
            }
            DrafterOffer {
                width: parent.width
                visible: root.engine.drafterWaiting
                engine: root.engine
            }
            NoticeCard {
                width: parent.width
                visible: title !== ""
                title: root.models.notice
                detail: ""
                action: qsTr("Dismiss")
                onTriggered: root.models.dismissNotice()
            }
        }

        delegate: ManagedModelCard {
            width: list.column
            models: root.models
            dialogs: dialogs
        }

        footer: Column {
            width: list.column
            topPadding: Theme.step * 4
            bottomPadding: Theme.step * 6
            spacing: Theme.step * 2

            RowLayout {
                width: parent.width
                visible: !root.models.shippedInUse
                spacing: Theme.step * 2

                UiText {
                    Layout.fillWidth: true
                    text: qsTr("Glimmer, the small demonstration model, came with Firesteel.")
                    color: Theme.dim
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                TextButton {
                    objectName: "useShippedButton"
                    flat: true
                    text: qsTr("Use Glimmer")
                    onClicked: root.models.useShipped()
                }
            }
            ModelsFolderRow {
                width: parent.width
                models: root.models
            }
            TokenRow {
                id: tokenRow

                width: parent.width
                words: root.models.tokenText
                known: root.models.hasToken
                own: root.models.ownsToken
                onTokenGiven: text => root.models.setToken(text)

                Connections {
                    function onTokenAsked() {
                        tokenRow.edit();
                        list.positionViewAtEnd();
                    }

                    target: dialogs
                }
            }
            UiText {
                width: parent.width
                visible: text !== ""
                text: root.models.hubText
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
        }
    }

    FolderDialog {
        id: folders

        title: qsTr("A folder with a model: config.json and .safetensors files")
        onAccepted: root.models.addFolder(selectedFolder)
    }

    ModelDialogs {
        id: dialogs

        models: root.models
    }
}
