// SPDX-License-Identifier: MIT
//
// The models on this machine and those that can be had: download, licence, use, remove; folders of one's own; the access
// token. Shown by Main.qml in place of the chat.
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

    signal closed

    function act(row: int, action: string) {
        if (action === "token")
            token.edit();
        else if (action === "page")
            Qt.openUrlExternally(models.pageOf(row));
        else if (action === "license")
            models.review(row);
        else
            models.resume(row);
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Models")

    ListView {
        id: list

        objectName: "modelsList"
        readonly property real column: width - leftMargin - rightMargin

        anchors.fill: parent
        leftMargin: Math.max(Theme.step * 4, (width - Theme.columnWidth) / 2)
        rightMargin: leftMargin
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
            NoticeCard {
                width: parent.width
                visible: title !== ""
                title: root.models.notice
                detail: ""
                action: qsTr("Dismiss")
                onTriggered: root.models.dismissNotice()
            }
        }

        delegate: ModelCard {
            width: list.column
            onReviewRequested: root.models.review(index)
            onPauseRequested: root.models.pause(index)
            onResumeRequested: root.models.resume(index)
            onUseRequested: root.models.use(index)
            onCancelRequested: confirmation.ask("cancel", index, qsTr("Cancel the download of %1?").arg(name), qsTr("What has arrived is deleted. To go on later, pause it instead."), qsTr("Cancel the download"))
            onRemoveRequested: {
                if (added)
                    root.models.remove(index);
                else
                    confirmation.ask("remove", index, qsTr("Delete %1?").arg(name), qsTr("Its files are deleted from this computer. It can be downloaded again."), qsTr("Delete"));
            }
            onWithdrawRequested: confirmation.ask("withdraw", index, qsTr("Withdraw your consent for %1?").arg(name), qsTr("The model and everything that was converted from it are deleted from this computer. A folder that you added yourself is forgotten, not deleted."), qsTr("Withdraw and delete"))
            onActionChosen: action => root.act(index, action)
        }

        footer: Column {
            width: list.column
            topPadding: Theme.step * 4
            bottomPadding: Theme.step * 6

            TokenRow {
                id: tokenRow

                width: parent.width
                words: root.models.tokenText
                known: root.models.hasToken
                onTokenGiven: text => root.models.setToken(text)

                Connections {
                    function onAsked() {
                        tokenRow.edit();
                        list.positionViewAtEnd();
                    }

                    target: token
                }
            }
        }
    }

    QtObject {
        id: token

        signal asked

        function edit() {
            asked();
        }
    }

    FolderDialog {
        id: folders

        title: qsTr("A folder with a model: config.json and .safetensors files")
        onAccepted: root.models.addFolder(selectedFolder)
    }

    LicenseDialog {
        id: license

        objectName: "licenseDialog"
        prompt: root.models.prompt
        onAgreed: root.models.accept()
        onDeclined: root.models.decline()
        onRetried: root.models.retryReview()
    }

    ConfirmDialog {
        id: confirmation

        objectName: "confirmDialog"
        onConfirmed: (topic, row) => {
            if (topic === "cancel")
                root.models.cancel(row);
            else if (topic === "remove")
                root.models.remove(row);
            else
                root.models.withdraw(row);
        }
    }
}
