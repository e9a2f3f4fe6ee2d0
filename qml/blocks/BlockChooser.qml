// SPDX-License-Identifier: MIT
//
// Picks the delegate for each block of the message view and joins its signals to the conversation.
pragma ComponentBehavior: Bound

import QtQuick
import Qt.labs.qmlmodels
import Firesteel.App
import Firesteel.Ui

DelegateChooser {
    id: root

    required property ConversationController conversation
    property bool modelFailed: false
    property int hoveredMessage: -1
    property bool showStatistics: true
    readonly property bool canSwitch: !conversation.busy && !conversation.loading

    signal errorActionChosen(string action)
    signal versionStepped(int row, int step, bool byKeyboard)

    role: "blockType"

    DelegateChoice {
        roleValue: MessageBlockModel.UserText

        UserBlock {
            find: root.conversation.find
            messageHovered: root.hoveredMessage === messageIndex
            canEdit: root.conversation.canSend
            canSwitch: root.canSwitch
            onCopied: root.conversation.copyMessage(index)
            onEdited: root.conversation.beginEdit(index)
            onVersionStepped: (step, byKeyboard) => root.versionStepped(index, step, byKeyboard)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Thinking

        ThinkingBlock {
            ending: root.conversation.answeringNow || root.conversation.stopping
            canEnd: !root.conversation.remote
            onAnswerAsked: root.conversation.answerNow()
            onToggled: root.conversation.blocks.setExpanded(index, !expanded)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.ThinkingText

        ThinkingTextBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Paragraph

        ParagraphBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Heading

        HeadingBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Code

        CodeBlock {
            find: root.conversation.find
            onCopied: root.conversation.copyBlock(index)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Table

        TableBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Quote

        ParagraphBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.ListItem

        ListItemBlock {
            find: root.conversation.find
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Rule

        RuleBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Statistics

        StatisticsBlock {
            shown: root.showStatistics
            messageHovered: root.hoveredMessage === messageIndex
            canRegenerate: root.conversation.canSend
            canSwitch: root.canSwitch
            onCopied: root.conversation.copyMessage(index)
            onRegenerated: root.conversation.regenerateAt(index)
            onVersionStepped: (step, byKeyboard) => root.versionStepped(index, step, byKeyboard)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Error

        ErrorBlock {
            modelFailed: root.modelFailed
            last: index === root.conversation.blocks.count - 1
            canSwitch: root.canSwitch
            onTriggered: action => root.errorActionChosen(action)
            onVersionStepped: (step, byKeyboard) => root.versionStepped(index, step, byKeyboard)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Status

        StatusBlock {}
    }
}
