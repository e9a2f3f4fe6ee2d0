// SPDX-License-Identifier: MIT
//
// Versions of messages in the window: edit, answer again, ‹ 2/3 › by mouse and keyboard, names for assistive tools.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Versions"
    when: windowShown

    Component {
        id: windowComponent

        Main {}
    }

    function show(made: App.Application) {
        application = made;
        window = windowComponent.createObject(test, {
            application: made
        });
        window.requestActivate();
        tryVerify(() => window.active);
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function init() {
        show(Fixture.makeApplication());
    }

    function cleanup() {
        window.destroy();
        window = null;
        wait(0);
    }

    function find(name: string): Item {
        const item = findChild(window.contentItem, name);
        verify(item, name);
        return item;
    }

    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    function input(): Item {
        return find("composerInput");
    }

    function say(text: string) {
        input().text = text;
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
    }

    // The block that ends a message, where its switcher is.
    function lastBlock(message: int): BlockItem {
        const list = find("messageList");
        const rows = application.conversation.blocks;
        for (let row = 0; row < list.count; ++row) {
            const block = list.itemAtIndex(row);
            if (block && block.messageIndex === message && rows.data(rows.index(row, 0), App.MessageBlockModel.LastInMessageRole))
                return block;
        }
        return null;
    }

    function switcher(message: int): VersionSwitcher {
        let found = null;
        tryVerify(() => {
            const block = lastBlock(message);
            found = block ? findChild(block, "versionSwitcher") : null;
            return found !== null;
        });
        return found;
    }

    function test_oneVersionHasNoSwitcher() {
        say("rtl one");
        verify(!switcher(0).visible);
        verify(!switcher(1).visible);
    }

    function test_anAnswerAgainByMouseAndBack() {
        say("rtl one");
        tryVerify(() => lastBlock(1) !== null);
        const button = findChild(lastBlock(1), "regenerate");
        verify(button.Accessible.name !== "");
        mouseClick(button);
        tryCompare(application.conversation, "busy", false);
        tryCompare(switcher(1), "version", 2);
        verify(switcher(1).visible);
        compare(switcher(1).versions, 2);
        compare(switcher(1).Accessible.name, "Version 2 of 2");
        const previous = findChild(switcher(1), "previousVersion");
        const next = findChild(switcher(1), "nextVersion");
        compare(previous.Accessible.name, "Previous version");
        compare(next.Accessible.name, "Next version");
        verify(previous.enabled);
        verify(!next.enabled);
        mouseClick(previous);
        tryVerify(() => switcher(1).version === 1);
        verify(!application.conversation.loading);
    }

    function test_versionsByKeyboardKeepTheFocus() {
        say("rtl one");
        application.conversation.regenerate();
        tryCompare(application.conversation, "busy", false);
        application.conversation.regenerate();
        tryCompare(application.conversation, "busy", false);
        tryCompare(switcher(1), "version", 3);
        findChild(switcher(1), "previousVersion").forceActiveFocus(Qt.TabFocusReason);
        press(Qt.Key_Space, Qt.NoModifier);
        tryVerify(() => switcher(1).version === 2);
        tryVerify(() => findChild(switcher(1), "previousVersion").activeFocus);
        press(Qt.Key_Left, Qt.NoModifier);
        tryVerify(() => switcher(1).version === 1);
        // There is no earlier one: the other button has the keyboard.
        tryVerify(() => findChild(switcher(1), "nextVersion").activeFocus);
        press(Qt.Key_Left, Qt.NoModifier);
        compare(switcher(1).version, 1);
        press(Qt.Key_Right, Qt.NoModifier);
        tryVerify(() => switcher(1).version === 2);
    }

    function test_editingAMessageMakesAVersion() {
        say("rtl one");
        input().text = "half a thought";
        const edit = findChild(lastBlock(0), "editMessage");
        verify(edit.Accessible.name !== "");
        edit.forceActiveFocus(Qt.TabFocusReason);
        tryCompare(edit, "opacity", 1);
        press(Qt.Key_Space, Qt.NoModifier);
        verify(application.conversation.editing);
        verify(find("editBar").visible);
        compare(input().text, "rtl one");
        tryVerify(() => input().activeFocus);
        input().text = "rtl two";
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
        verify(!find("editBar").visible);
        compare(input().text, "half a thought");
        compare(application.conversation.messageSource(0), "rtl two");
        tryCompare(switcher(0), "version", 2);
        verify(switcher(0).visible);
        mouseClick(findChild(switcher(0), "previousVersion"));
        tryVerify(() => application.conversation.messageSource(0) === "rtl one");
    }

    function test_theCaretOfAnEditIsAtTheEnd() {
        say("rtl one");
        application.conversation.beginEdit(0);
        tryVerify(() => input().activeFocus);
        compare(input().cursorPosition, "rtl one".length);
    }

    function test_aPasteOf20000LinesArrivesWhole() {
        const lines = [];
        for (let line = 0; line < 20000; ++line)
            lines.push("line " + line + " of a log");
        const log = lines.join("\n");
        Fixture.setClipboardText(log);
        press(Qt.Key_V, Qt.ControlModifier | Qt.ShiftModifier); // as text
        tryCompare(input(), "length", log.length);
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
        verify(application.conversation.messageSource(0) === log);
        verify(find("messageList").count > 1);
    }

    function test_aLongPasteGoesBesideTheMessage() {
        const log = "a line of ```a log```\n".repeat(1000);
        Fixture.setClipboardText(log);
        press(Qt.Key_V, Qt.ControlModifier);
        press(Qt.Key_V, Qt.ControlModifier);
        compare(input().text, "");
        tryVerify(() => find("pasteChips").visible);
        compare(application.conversation.pastes.count, 2);
        const chips = () => find("pasteChips").children.filter(item => item.name !== undefined);
        compare(chips().map(chip => chip.name), ["Pasted text 1", "Pasted text 2"]);
        verify(chips()[0].size.startsWith("lines: 1,000 "), chips()[0].size);
        waitForPolish(window);
        mouseClick(findChild(chips()[0], "removePaste"));
        compare(application.conversation.pastes.count, 1);
        tryVerify(() => application.conversation.draftTokens > 1000);
        input().text = "What happened?";
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
        verify(application.conversation.messageSource(0) === "What happened?\n\nPasted text 1:\n````text\n" + log + "````");
        compare(application.conversation.pastes.count, 0);
        // On its own it can be sent, too, or be put into the message after all.
        press(Qt.Key_V, Qt.ControlModifier);
        verify(find("sendButton").enabled);
        waitForPolish(window);
        mouseClick(findChild(chips()[0], "openPaste"));
        compare(application.conversation.pastes.count, 0);
        compare(input().length, log.length);
        input().clear();
        Fixture.setClipboardText("short");
        press(Qt.Key_V, Qt.ControlModifier);
        compare(input().text, "short");
    }

    function test_escapeLeavesAnEdit() {
        say("rtl one");
        application.conversation.beginEdit(0);
        tryVerify(() => input().activeFocus);
        compare(input().text, "rtl one");
        press(Qt.Key_Escape, Qt.NoModifier);
        verify(!application.conversation.editing);
        compare(input().text, "");
        application.conversation.beginEdit(0);
        mouseClick(find("cancelEdit"));
        verify(!application.conversation.editing);
    }

    function test_actionsNeverMoveTheText() {
        say("rtl one");
        const block = lastBlock(0);
        const height = block.height;
        const edit = findChild(block, "editMessage");
        compare(edit.opacity, 0);
        mouseMove(block, block.width / 2, block.height - 4);
        tryCompare(edit, "opacity", 1);
        compare(block.height, height);
    }

    function test_versionsAreThereAfterARestart() {
        say("rtl one");
        application.conversation.regenerate();
        tryCompare(application.conversation, "busy", false);
        mouseClick(findChild(switcher(1), "previousVersion"));
        tryVerify(() => switcher(1).version === 1);
        cleanup();
        show(Fixture.restartApplication());
        tryCompare(find("conversationList"), "count", 1);
        application.openConversation(0);
        tryCompare(application.conversation, "loading", false);
        tryVerify(() => switcher(1).visible);
        compare(switcher(1).version, 1);
        compare(switcher(1).versions, 2);
    }
}
