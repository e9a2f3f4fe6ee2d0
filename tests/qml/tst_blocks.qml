// SPDX-License-Identifier: MIT
//
// The blocks of an answer, on a conversation of the scripted engine.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

Item {
    id: root

    property App.ConversationController conversation
    property bool showStatistics: true

    width: 800
    height: 2200

    Loader {
        id: loader

        anchors.fill: parent
        active: root.conversation !== null
        sourceComponent: MessageList {
            conversation: root.conversation
            showStatistics: root.showStatistics
        }
    }

    TestCase {
        name: "Blocks"
        when: windowShown

        function init() {
            const application = Fixture.makeApplication();
            Fixture.start();
            tryCompare(application.engine, "state", App.EngineController.Ready);
            root.showStatistics = true;
            root.height = 2200;
            root.conversation = application.conversation;
            root.conversation.thinkingEffort = App.ConversationController.High;
        }

        function cleanup() {
            root.conversation = null;
        }

        function ask(question: string) {
            root.conversation.send(question);
            tryCompare(root.conversation, "busy", false);
            wait(50);
        }

        function find(name: string): Item {
            const item = findChild(loader, name);
            verify(item, name);
            return item;
        }

        function test_thinkingOpensAndClosesByMouseAndKey() {
            ask("How does a hash map work?");
            const blocks = root.conversation.blocks;
            const closed = blocks.count;
            const header = find("thinkingHeader");
            verify(/^Thought for .* · [\d,]+ tokens$/.test(header.Accessible.name), header.Accessible.name);
            mouseClick(header);
            tryVerify(() => blocks.count > closed);
            header.forceActiveFocus();
            keyClick(Qt.Key_Space);
            tryCompare(blocks, "count", closed);
        }

        function test_answerNowEndsTheThinking_data(): var {
            return [
                {
                    tag: "mouse"
                },
                {
                    tag: "key"
                }
            ];
        }

        function test_answerNowEndsTheThinking(data: var) {
            Fixture.holdTokens();
            Fixture.allowTokens(5);
            root.conversation.send("How?");
            tryVerify(() => findChild(loader, "answerNow") !== null);
            const button = find("answerNow");
            const header = find("thinkingHeader");
            tryVerify(() => header.Accessible.name.endsWith("· 5 tokens"));
            verify(button.visible && button.enabled);
            compare(button.height, header.height);
            if (data.tag === "mouse") {
                mouseClick(button);
            } else {
                header.forceActiveFocus(Qt.TabFocusReason);
                keyClick(Qt.Key_Tab);
                verify(button.activeFocus);
                keyClick(Qt.Key_Space);
                verify(header.activeFocus);
            }
            verify(!button.enabled);
            Fixture.releaseTokens();
            tryCompare(root.conversation, "busy", false);
            verify(header.Accessible.name.startsWith("Thought for "));
            verify(header.Accessible.name.endsWith("· 5 tokens"), header.Accessible.name);
            verify(!button.visible);
            verify(root.conversation.messageSource(1).startsWith("A **hash map**"));
            // The next one thinks as long as it likes.
            root.conversation.send("And then?");
            tryCompare(root.conversation, "busy", false);
            verify(!root.conversation.answeringNow);
        }

        function test_thinkingIsLiveWhileItRuns() {
            Fixture.holdTokens();
            Fixture.allowTokens(5);
            root.conversation.send("How?");
            tryVerify(() => findChild(loader, "thinkingHeader") !== null);
            tryVerify(() => find("thinkingHeader").Accessible.name.startsWith("Thinking for "));
            Fixture.releaseTokens();
            tryVerify(() => find("thinkingHeader").Accessible.name.startsWith("Thought for "));
        }

        function test_codeIsShownAndCopiedAsWritten() {
            ask("How does a hash map work?");
            const code = find("code");
            verify(code.text.startsWith("class HashMap:"), code.text);
            mouseClick(find("copyCode"));
            verify(Fixture.clipboardText().startsWith("class HashMap:\n    def __init__"), Fixture.clipboardText());
            verify(!Fixture.clipboardText().includes("```"));
        }

        function test_theStatisticsCanBeHidden() {
            ask("How does a hash map work?");
            const line = find("statistics");
            verify(line.visible && line.text !== "");
            root.showStatistics = false;
            verify(!line.visible);
        }

        function test_aTableHasItsCells() {
            ask("How does a hash map work?");
            const grid = find("table");
            compare(grid.columns, 4);
            compare(grid.children.filter(cell => cell instanceof TableCell).length, 16);
        }

        function test_rightToLeftParagraphsStandOnTheRight() {
            ask("rtl");
            const list = find("messageList");
            const paragraphs = list.contentItem.children.filter(item => item.visible && item instanceof ParagraphBlock);
            compare(paragraphs.length, 2);
            verify(paragraphs.some(block => block.rightToLeft) && paragraphs.some(block => !block.rightToLeft));
        }

        function test_whoReadsAboveIsNotMovedByTheAnswer() {
            root.height = 500;
            Fixture.holdTokens();
            Fixture.allowTokens(900);
            root.conversation.send("long");
            const list = find("messageList");
            tryVerify(() => root.conversation.blocks.count > 20);
            tryVerify(() => loader.item.following && list.contentY > 500);
            list.forceActiveFocus();
            keyClick(Qt.Key_PageUp);
            verify(!loader.item.following);
            wait(50);
            const index = list.indexAt(400, list.contentY + 250);
            const place = list.itemAtIndex(index).y - list.contentY;

            Fixture.releaseTokens();
            tryCompare(root.conversation, "busy", false, 20000);
            wait(50);
            fuzzyCompare(list.itemAtIndex(index).y - list.contentY, place, 0.5);
            verify(!loader.item.following);

            const jump = find("jumpToLatest");
            verify(jump.visible);
            mouseClick(jump);
            tryVerify(() => list.atYEnd);
            verify(loader.item.following && !jump.visible);
        }

        function test_aFailedAnswerSaysWhyAndOffersHelp() {
            ask("fail");
            const card = find("notice");
            verify(card.detail.includes("invariant"), card.detail);
            verify(card.action !== "");
        }
    }
}
