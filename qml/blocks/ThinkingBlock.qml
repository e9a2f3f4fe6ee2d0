// SPDX-License-Identifier: MIT
//
// The line that stands for the model's reasoning: a live dot, the time it takes, and a button that ends it. Opens the
// ThinkingTextBlocks below it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.Ui

BlockItem {
    id: root

    required property bool thinkingLive
    required property real elapsedSeconds
    required property int tokenCount
    required property bool expanded
    property bool canEnd: true // its maker can be told to
    property bool ending: false // it was told to, or the answer was

    readonly property string duration: {
        if (elapsedSeconds < 10)
            return qsTr("%1 s").arg(elapsedSeconds.toLocaleString(Qt.locale(), "f", 1));
        const seconds = Math.floor(elapsedSeconds);
        return seconds < 60 ? qsTr("%1 s").arg(seconds) : qsTr("%1 min %2 s").arg(Math.floor(seconds / 60)).arg(seconds % 60);
    }
    readonly property string summary: {
        const words = thinkingLive ? qsTr("Thinking for %1 · %2 tokens") : qsTr("Thought for %1 · %2 tokens");
        return words.arg(duration).arg(tokenCount.toLocaleString(Qt.locale(), "f", 0));
    }

    signal toggled
    signal answerAsked

    gap: Theme.step * 4

    RowLayout {
        width: parent.width
        spacing: Theme.step * 2

        AbstractButton {
            id: header

            objectName: "thinkingHeader"
            topPadding: Theme.step
            bottomPadding: Theme.step
            rightPadding: Theme.step * 2
            focusPolicy: Qt.StrongFocus
            onClicked: root.toggled()

            background: Item {
                FocusRing {
                    control: header
                }
            }
            contentItem: Row {
                spacing: Theme.step * 2

                Icon {
                    anchors.verticalCenter: parent.verticalCenter
                    symbol: root.expanded ? "chevron-down" : "chevron-right"
                    color: header.hovered ? Theme.text : Theme.dim
                }
                LiveDot {
                    anchors.verticalCenter: parent.verticalCenter
                    visible: root.thinkingLive && root.canEnd
                }
                UiText {
                    anchors.verticalCenter: parent.verticalCenter
                    text: root.summary
                    color: header.hovered ? Theme.text : Theme.dim
                }
            }

            HoverHandler {
                cursorShape: Qt.PointingHandCursor
            }

            // As Space does.
            Keys.onPressed: event => {
                event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                if (event.accepted && !event.isAutoRepeat)
                    click();
            }

            Accessible.name: root.summary
            Accessible.description: root.expanded ? qsTr("Hides the reasoning") : qsTr("Shows the reasoning")
        }
        Item {
            Layout.fillWidth: true
        }
        // At the line's end, where the words that change do not move it.
        TextButton {
            objectName: "answerNow"
            implicitHeight: header.implicitHeight // the line is as high as without it
            visible: root.thinkingLive
            enabled: !root.ending
            text: root.ending ? qsTr("Ending the thinking…") : qsTr("Answer now")
            onClicked: {
                // The keyboard stays on this line when the button goes.
                if (activeFocus)
                    header.forceActiveFocus(focusReason);
                root.answerAsked();
            }

            Accessible.description: qsTr("Ends the thinking; the model answers with what it has thought of")
        }
    }
}
