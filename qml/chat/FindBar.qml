// SPDX-License-Identifier: MIT
//
// Finds words in the open conversation: a field, how many there are, and the way from one to the next.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

Rectangle {
    id: root

    required property ChatFind find

    signal edited(string text)
    signal closed

    function takeFocus() {
        field.forceActiveFocus(Qt.ShortcutFocusReason);
        field.selectAll();
    }

    function announce(words: string) {
        if (visible)
            Accessible.announce(words);
    }

    implicitWidth: row.implicitWidth + Theme.step * 3
    implicitHeight: Theme.controlHeight + Theme.step * 2
    radius: Theme.radius
    color: Theme.surface
    border.color: Theme.line

    Accessible.role: Accessible.ToolBar
    Accessible.name: qsTr("Find in this chat")

    Keys.onEscapePressed: closed()
    Keys.onPressed: event => {
        if (event.key !== Qt.Key_F3)
            return;
        if (event.modifiers & Qt.ShiftModifier)
            root.find.previous();
        else
            root.find.next();
        event.accepted = true;
    }

    RowLayout {
        id: row

        x: Theme.step * 2
        y: Theme.step
        width: parent.width - Theme.step * 3
        height: Theme.controlHeight
        spacing: Theme.step

        Field {
            id: field

            objectName: "findField"
            Layout.fillWidth: true
            Layout.preferredWidth: Math.round(200 * Math.max(1, Theme.fontScale))
            placeholderText: qsTr("Find in this chat")
            text: root.find.query
            onTextEdited: root.edited(text)
            Keys.onReturnPressed: event => event.modifiers & Qt.ShiftModifier ? root.find.previous() : root.find.next()
            Keys.onEnterPressed: event => event.modifiers & Qt.ShiftModifier ? root.find.previous() : root.find.next()
            Keys.onDownPressed: root.find.next()
            Keys.onUpPressed: root.find.previous()

            Accessible.name: placeholderText
            Accessible.description: counter.text
        }
        UiText {
            id: counter

            objectName: "findCount"
            Layout.minimumWidth: Math.round(64 * Theme.fontScale)
            visible: root.find.query !== ""
            text: root.find.count === 0 ? qsTr("not found") : qsTr("%1 of %2").arg(root.find.current.toLocaleString(Qt.locale(), "f", 0)).arg(root.find.count.toLocaleString(Qt.locale(), "f", 0))
            color: root.find.count === 0 ? Theme.warn : Theme.dim
            font.pixelSize: Theme.smallSize
            horizontalAlignment: Text.AlignHCenter
            onTextChanged: root.announce(text)
        }
        IconButton {
            objectName: "findPrevious"
            size: Theme.controlHeight - Theme.step
            enabled: root.find.count > 0
            symbol: "chevron-up"
            hint: qsTr("Previous (Shift+Enter)")
            onClicked: root.find.previous()
        }
        IconButton {
            objectName: "findNext"
            size: Theme.controlHeight - Theme.step
            enabled: root.find.count > 0
            symbol: "chevron-down"
            hint: qsTr("Next (Enter)")
            onClicked: root.find.next()
        }
        IconButton {
            objectName: "findClose"
            size: Theme.controlHeight - Theme.step
            symbol: "close"
            hint: qsTr("Close (Escape)")
            onClicked: root.closed()
        }
    }
}
