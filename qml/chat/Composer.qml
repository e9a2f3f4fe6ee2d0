// SPDX-License-Identifier: MIT
//
// Where a message is written. Enter sends, Shift+Enter starts a line, and nothing is sent while an input method composes.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    property alias text: input.text
    property PastedTexts pastes: null // long texts that go with the message
    readonly property int pasteCount: pastes?.count ?? 0
    property bool busy: false
    property bool canSend: true
    property string placeholder: qsTr("Message Firesteel…")
    default property alias tools: toolRow.data
    readonly property Item focusHome: input // see FocusKeeper
    readonly property bool sendable: canSend && !busy && (input.text.trim() !== "" || pasteCount > 0)

    signal submitted(string text)
    signal stopped

    function focusInput() {
        input.forceActiveFocus(Qt.ShortcutFocusReason);
    }

    function moveToEnd() {
        input.cursorPosition = input.length;
    }

    function submit() {
        if (!sendable)
            return;
        const message = input.text;
        input.clear();
        submitted(message);
    }

    implicitHeight: column.implicitHeight + Theme.step * 3
    radius: Theme.cardRadius
    color: Theme.surface
    border.width: 1
    border.color: input.activeFocus ? Theme.dim : Theme.line

    ColumnLayout {
        id: column

        x: Theme.step * 2
        y: Theme.step * 2
        width: parent.width - Theme.step * 4
        spacing: 0

        Loader {
            Layout.fillWidth: true
            Layout.margins: active ? Theme.step : 0
            active: root.pasteCount > 0
            visible: active
            sourceComponent: PasteChips {
                objectName: "pasteChips"
                pastes: root.pastes
                onLeftOut: row => {
                    root.pastes.remove(row);
                    root.focusInput();
                }
                onOpened: row => {
                    const text = root.pastes.textOf(row);
                    root.pastes.remove(row);
                    input.insert(input.cursorPosition, text);
                    root.focusInput();
                }
            }
        }
        ScrollView {
            Layout.fillWidth: true
            Layout.maximumHeight: metrics.lineSpacing * 8 + Theme.step * 4
            ScrollBar.vertical: ThinScrollBar {
                parent: column
                x: column.width - width
                height: root.height - toolRow.height - Theme.step * 4
            }
            ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

            TextArea {
                id: input

                function isComposing(): bool {
                    return inputMethodComposing || preeditText !== "";
                }

                function enterPressed(event: var) {
                    if (event.modifiers & Qt.ShiftModifier) {
                        event.accepted = false;
                    } else if (isComposing()) {
                        Qt.inputMethod.commit();
                    } else {
                        root.submit();
                    }
                }

                objectName: "composerInput"
                padding: Theme.step * 2
                placeholderText: root.placeholder
                placeholderTextColor: Theme.dim
                color: Theme.text
                selectionColor: Theme.selection
                selectedTextColor: Theme.text
                font.family: Theme.sans
                font.pixelSize: Theme.readingSize
                textFormat: TextEdit.PlainText
                wrapMode: TextEdit.Wrap
                selectByMouse: true
                background: null
                Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
                Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
                // With Shift, whatever it is, as text.
                Keys.onPressed: event => {
                    event.accepted = true;
                    if (event.key === Qt.Key_V && event.modifiers === (Qt.ControlModifier | Qt.ShiftModifier))
                        input.paste();
                    else
                        event.accepted = event.matches(StandardKey.Paste) && (root.pastes?.takeClipboard() ?? false);
                }
                Keys.onReturnPressed: event => enterPressed(event)
                Keys.onEnterPressed: event => enterPressed(event)

                Accessible.name: qsTr("Message")
                Accessible.description: qsTr("Enter sends, Shift+Enter starts a new line")
            }
        }

        RowLayout {
            Layout.fillWidth: true
            spacing: Theme.step * 2

            RowLayout {
                id: toolRow

                Layout.fillWidth: true
                spacing: Theme.step * 2
            }
            IconButton {
                objectName: "sendButton"
                symbol: root.busy ? "stop" : "send"
                hint: root.busy ? qsTr("Stop (Esc)") : qsTr("Send (Enter)")
                enabled: root.busy || root.sendable
                tint: Theme.accentText
                fill: Theme.accent
                hoverFill: Qt.lighter(Theme.accent, 1.1)
                onClicked: {
                    if (root.busy)
                        root.stopped();
                    else
                        root.submit();
                }
            }
        }
    }

    FontMetrics {
        id: metrics

        font: input.font
    }
}
