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

    signal errorActionChosen(string action)

    role: "blockType"

    DelegateChoice {
        roleValue: MessageBlockModel.UserText

        UserBlock {
            messageHovered: root.hoveredMessage === messageIndex
            onCopied: root.conversation.copyMessage(index)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Thinking

        ThinkingBlock {
            onToggled: root.conversation.blocks.setExpanded(index, !expanded)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.ThinkingText

        ThinkingTextBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Paragraph

        ParagraphBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Heading

        HeadingBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Code

        CodeBlock {
            onCopied: root.conversation.copyBlock(index)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Table

        TableBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Quote

        ParagraphBlock {}
    }
    DelegateChoice {
        roleValue: MessageBlockModel.ListItem

        ListItemBlock {}
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
            canRegenerate: root.conversation.canRegenerate && index === root.conversation.blocks.count - 1
            onCopied: root.conversation.copyMessage(index)
            onRegenerated: root.conversation.regenerate()
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Error

        ErrorBlock {
            modelFailed: root.modelFailed
            last: index === root.conversation.blocks.count - 1
            onTriggered: action => root.errorActionChosen(action)
        }
    }
    DelegateChoice {
        roleValue: MessageBlockModel.Status

        StatusBlock {}
    }
}
