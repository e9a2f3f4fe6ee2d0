// SPDX-License-Identifier: MIT
//
// A text field of several lines that grows with its text. `value` is what it shows; what is typed comes back with `typed`,
// at the latest when the keyboard leaves.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import Firesteel.Ui

Rectangle {
    id: root

    required property string name
    property string value
    property alias placeholder: input.placeholderText
    property alias editable: input.enabled
    property alias inputName: input.objectName
    property int leastLines: 2
    property bool fixedPitch: false

    signal typed(string text)

    function commit() {
        later.stop();
        if (input.text !== value)
            typed(input.text);
    }

    implicitHeight: Math.min(Math.max(input.implicitHeight, metrics.lineSpacing * leastLines + Theme.step * 3), metrics.lineSpacing * 12)
    radius: Theme.radius - 2
    color: Theme.page
    border.width: input.activeFocus ? 2 : 1
    border.color: input.activeFocus ? Theme.accent : Theme.line
    onValueChanged: {
        if (!input.activeFocus)
            input.text = value;
    }
    Component.onCompleted: input.text = value
    Component.onDestruction: commit()

    ScrollView {
        anchors.fill: parent
        anchors.margins: 2
        ScrollBar.vertical: ThinScrollBar {
            x: parent.width - width
            height: parent.height
        }
        ScrollBar.horizontal.policy: ScrollBar.AlwaysOff

        TextArea {
            id: input

            padding: Theme.step * 1.5
            leftPadding: Theme.step * 2
            color: Theme.text
            placeholderTextColor: Theme.dim
            selectionColor: Theme.selection
            selectedTextColor: Theme.text
            font.family: root.fixedPitch ? Theme.mono : Theme.sans
            font.pixelSize: Theme.uiSize
            textFormat: TextEdit.PlainText
            wrapMode: TextEdit.Wrap
            selectByMouse: true
            background: null
            onTextChanged: {
                if (activeFocus)
                    later.restart();
            }
            onActiveFocusChanged: {
                if (activeFocus)
                    return;
                root.commit();
                text = root.value;
            }
            Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
            Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)

            Accessible.name: root.name
        }
    }

    Timer {
        id: later

        interval: 600
        onTriggered: root.commit()
    }

    FontMetrics {
        id: metrics

        font: input.font
    }
}
