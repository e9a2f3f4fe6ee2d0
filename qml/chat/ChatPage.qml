// SPDX-License-Identifier: MIT
//
// One conversation: its messages or an empty page, the composer under them. Joins the view to the ConversationController.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property ConversationController conversation
    required property EngineController engine
    required property DatabaseThread database
    property bool showStatistics: true
    readonly property Item focusHome: composer.focusHome // see FocusKeeper

    signal newRequested
    signal presetsRequested

    function focusComposer() {
        composer.focusInput();
    }

    function startFind() {
        if (conversation.empty)
            return;
        conversation.find.shown = true;
        findBar.takeFocus();
    }

    function endFind() {
        conversation.find.shown = false;
        focusComposer();
    }

    function announce(words: string) {
        Accessible.announce(words);
    }

    onConversationChanged: {
        composer.text = conversation.draft;
        messages.jumpToEnd();
        focusComposer();
    }

    Connections {
        function onAnswered(complete: bool) {
            root.announce(complete ? qsTr("The answer is finished.") : qsTr("The answer ended early."));
        }

        function onShown(row: int) {
            messages.showRow(row);
        }

        function onVersionShown(row: int) {
            messages.showVersion(row);
            root.announce(qsTr("Another version is shown."));
        }

        function onEditingChanged() {
            composer.text = root.conversation.draft;
            composer.moveToEnd();
            root.focusComposer();
        }

        target: root.conversation
    }

    Component.onCompleted: composer.text = conversation.draft

    Keys.onEscapePressed: event => {
        event.accepted = conversation.editing || conversation.find.shown;
        if (conversation.editing)
            conversation.cancelEdit();
        else if (conversation.find.shown)
            endFind();
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0

        // Above the messages, not over them: it covers none.
        FindBar {
            id: findBar

            objectName: "findBar"
            Layout.alignment: Qt.AlignRight
            Layout.topMargin: Theme.step * 2
            Layout.rightMargin: Theme.step * 5
            Layout.preferredWidth: Math.min(implicitWidth, root.width - Theme.step * 10)
            visible: root.conversation.find.shown && !root.conversation.empty
            find: root.conversation.find
            onEdited: text => root.conversation.find.find(text, messages.firstVisibleRow())
            onClosed: root.endFind()
        }
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true

            MessageList {
                id: messages

                anchors.fill: parent
                visible: !root.conversation.empty
                conversation: root.conversation
                showStatistics: root.showStatistics
                modelFailed: root.engine.state === EngineController.Failed
                onErrorActionChosen: action => {
                    if (action === "reloadModel")
                        root.engine.retry();
                    else if (action === "newConversation")
                        root.newRequested();
                    else
                        root.conversation.retry();
                }
            }
            EmptyChat {
                anchors.fill: parent
                visible: root.conversation.empty
                engine: root.engine
                remote: root.conversation.remote
                onExampleChosen: text => {
                    composer.text = text;
                    root.focusComposer();
                }
            }
        }

        StoreNotice {
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: composer.width
            Layout.bottomMargin: Theme.step * 3
            database: root.database
            loadError: root.conversation.loadError
        }

        ModelNotice {
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: composer.width
            Layout.bottomMargin: Theme.step * 3
            visible: !root.conversation.empty && !root.conversation.remote && root.engine.state !== EngineController.Ready
            engine: root.engine
        }

        DrafterOffer {
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: composer.width
            Layout.bottomMargin: Theme.step * 3
            visible: root.engine.drafterOffered
            engine: root.engine
            alternative: qsTr("Later")
        }

        EditBar {
            Layout.alignment: Qt.AlignHCenter
            Layout.fillWidth: false
            Layout.preferredWidth: composer.width - Theme.step * 4
            Layout.bottomMargin: Theme.step
            visible: root.conversation.editing
            onCancelled: root.conversation.cancelEdit()
        }

        UiText {
            objectName: "rereadNote"
            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: composer.width - Theme.step * 4
            Layout.bottomMargin: Theme.step * 2
            visible: text !== ""
            text: root.conversation.rereadText
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
            onTextChanged: if (text !== "")
                root.announce(text)

            Accessible.role: Accessible.AlertMessage
            Accessible.name: text
        }

        Composer {
            id: composer

            Layout.alignment: Qt.AlignHCenter
            Layout.preferredWidth: Math.min(Theme.columnWidth, root.width - Theme.step * 10)
            Layout.bottomMargin: Theme.step * 4
            focus: true
            pastes: root.conversation.pastes
            busy: root.conversation.busy
            canSend: root.conversation.canSend
            onTextChanged: root.conversation.draft = text
            onSubmitted: text => {
                root.conversation.send(text);
                messages.jumpToEnd();
            }
            onStopped: root.conversation.stop()

            EffortMenu {
                effort: root.conversation.thinkingEffort
                onPicked: effort => root.conversation.thinkingEffort = effort
            }
            ChatOptionsButton {
                Layout.fillWidth: true
                Layout.minimumWidth: 0
                Layout.maximumWidth: Math.ceil(implicitWidth) + 1
                options: root.conversation.options
                onPresetsRequested: root.presetsRequested()
            }
            Item {
                Layout.fillWidth: true
            }
            ContextMeter {
                used: root.conversation.promptTokens + Math.max(0, root.conversation.draftTokens)
                total: root.conversation.contextTokens
            }
        }
    }
}
