// SPDX-License-Identifier: MIT
//
// The keyboard in the whole window: where it goes when the control that had it is gone, and what a menu that it opens marks.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Focus"
    when: windowShown

    Component {
        id: windowComponent

        Main {}
    }

    function init() {
        application = Fixture.makeApplication();
        window = windowComponent.createObject(test, {
            application: application
        });
        window.requestActivate();
        tryVerify(() => window.active);
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
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

    function shownIn(item: Item, name: string): Item {
        if (item.objectName === name && item.visible)
            return item;
        for (const child of item.children) {
            const found = shownIn(child, name);
            if (found)
                return found;
        }
        return null;
    }

    function shown(name: string): Item {
        tryVerify(() => shownIn(window.contentItem, name), 5000, name);
        return shownIn(window.contentItem, name);
    }

    function press(item: Item) {
        item.forceActiveFocus(Qt.TabFocusReason);
        verify(item.activeFocus);
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
    }

    function ask(text: string) {
        application.conversation.send(text);
        tryCompare(application.conversation, "busy", false);
    }

    function controlsIn(item: Item): list<Item> {
        let found = item.activeFocusOnTab && item.visible && item.enabled ? [item] : [];
        for (const child of item.children)
            found = found.concat(controlsIn(child));
        return found;
    }

    // The item itself, or the list whose row it is.
    function controlOf(item: Item): Item {
        while (item && !item.activeFocusOnTab)
            item = item.parent;
        return item;
    }

    function test_inTheChatTheFieldGetsIt_data() {
        return [
            {
                tag: "the drafter's reload",
                button: "noticeAction",
                prepare: () => Fixture.showModels(["ready", "ready"])
            },
            {
                tag: "the drafter later",
                button: "noticeAlternative",
                prepare: () => Fixture.showModels(["ready", "ready"])
            },
            {
                tag: "a load of the model",
                button: "noticeAction",
                prepare: () => {
                    application.engine.unload();
                    tryCompare(application.engine, "state", App.EngineController.Unloaded);
                }
            },
            {
                tag: "the end of a load",
                button: "stopLoading",
                prepare: () => {
                    Fixture.slowLoad(60000);
                    application.engine.reload();
                }
            },
            {
                tag: "an edit that is dropped",
                button: "cancelEdit",
                prepare: () => application.conversation.beginEdit(0)
            },
            {
                tag: "an answer made again",
                button: "regenerate",
                prepare: () => {}
            },
            {
                tag: "the end of finding",
                button: "findClose",
                prepare: () => application.conversation.find.shown = true
            }
        ];
    }

    function test_inTheChatTheFieldGetsIt(row) {
        Fixture.showModels(["ready", "downloading"]);
        ask("How?");
        row.prepare();
        press(shown(row.button));
        tryVerify(() => find("composerInput").activeFocus, 5000, String(window.activeFocusItem));
    }

    function test_whoSentByTheButtonCanWriteOn() {
        const input = find("composerInput");
        input.text = "How?";
        press(find("sendButton"));
        tryCompare(application.conversation, "busy", false);
        tryVerify(() => input.activeFocus);
    }

    function test_inAListTheNeighbourGetsIt() {
        verify(application.endpoint.addOrigin("https://a.example"));
        verify(application.endpoint.addOrigin("https://b.example"));
        window.showPage("endpoint");
        verify(waitForPolish(window));
        press(shown("endpointRemoveOrigin"));
        compare(application.endpoint.origins, ["https://b.example"]);
        tryVerify(() => shown("endpointRemoveOrigin").activeFocus, 5000, String(window.activeFocusItem));
        press(shown("endpointRemoveOrigin"));
        tryVerify(() => shown("endpointOrigin").activeFocus, 5000, String(window.activeFocusItem));
    }

    function test_whatTakesItsPlaceGetsIt() {
        window.showPage("models");
        Fixture.showModels(["downloading", "available"]);
        const pause = shown("pauseButton");
        pause.forceActiveFocus(Qt.TabFocusReason);
        verify(pause.activeFocus);
        Fixture.showModels(["paused", "available"]);
        tryVerify(() => shown("resumeButton").activeFocus, 5000, String(window.activeFocusItem));
    }

    function test_itStaysWhereSomebodyPutIt() {
        window.showPage("endpoint");
        const back = shown("endpointBack");
        const port = shown("endpointPort");
        back.forceActiveFocus(Qt.TabFocusReason);
        back.visible = false;
        port.forceActiveFocus(Qt.TabFocusReason);
        wait(0); // for what was queued
        verify(port.activeFocus);
    }

    Component {
        id: iconComponent

        IconButton {
            symbol: "copy"
            hint: "Copy"
        }
    }

    // Actions of a message that scrolls under a mouse at rest stay hidden, so nothing explains them.
    function test_whatIsNotSeenIsNotExplained() {
        const button = createTemporaryObject(iconComponent, window.contentItem, {
            opacity: 0
        });
        button.forceActiveFocus(Qt.TabFocusReason);
        verify(button.visualFocus);
        verify(!button.explained);
        button.opacity = 1;
        verify(button.explained);
    }

    Component {
        id: wordsComponent

        TextButton {
            text: "Next"
            primary: true
        }
    }

    // A ring of the accent around a fill of the accent.
    function test_theRingIsSeenAroundAFilledButton() {
        const button = createTemporaryObject(wordsComponent, window.contentItem);
        button.forceActiveFocus(Qt.TabFocusReason);
        const ring = button.background.children[0];
        verify(ring.visible);
        compare(ring.x + ring.border.width, -2); // this much of the page lies between
        button.primary = false;
        compare(ring.x + ring.border.width, 0);
    }

    function test_theActionsOfAMessageAreWalkedAsTheyStand() {
        ask("How?");
        const edit = shown("editMessage");
        edit.forceActiveFocus(Qt.TabFocusReason);
        const place = edit.mapToItem(null, 0, 0).x;
        Fixture.keyClick(window, Qt.Key_Tab, Qt.NoModifier);
        verify(window.activeFocusItem.parent === edit.parent);
        verify(window.activeFocusItem.mapToItem(null, 0, 0).x > place);
    }

    function isIn(item: Item, part: Item): bool {
        while (item && item !== part)
            item = item.parent;
        return item !== null;
    }

    function test_aPageIsWalkedFromItsTop_data() {
        return ["models", "settings", "endpoint", "benchmark", "about"].map(page => ({
                    tag: page,
                    page: page
                }));
    }

    // Also where the palette led to it, which gives the keyboard back to where it was.
    function test_aPageIsWalkedFromItsTop(row) {
        find("composerInput").forceActiveFocus(Qt.TabFocusReason);
        const palette = findChild(window, "actionPalette");
        palette.open();
        tryVerify(() => palette.opened);
        palette.close();
        window.showPage(row.page);
        tryVerify(() => !palette.visible);
        tryVerify(() => isIn(controlOf(window.activeFocusItem), find("windowPages")), 5000, String(window.activeFocusItem));
        Fixture.keyClick(window, Qt.Key_Tab, Qt.NoModifier);
        verify(isIn(controlOf(window.activeFocusItem), find("windowPages")), String(window.activeFocusItem));
        verify(window.activeFocusItem.visible);
    }

    function test_noControlTakesItAlong_data() {
        return ["", "models", "settings", "endpoint", "benchmark", "about"].map(page => ({
                    tag: page === "" ? "chat" : page,
                    page: page
                }));
    }

    // Whichever goes: what has the keyboard can be seen and used.
    function test_noControlTakesItAlong(row) {
        ask("How?");
        verify(application.endpoint.addOrigin("https://a.example"));
        Fixture.showModels(["downloading", "ready"]);
        if (row.page !== "")
            window.showPage(row.page);
        verify(waitForPolish(window));
        const controls = controlsIn(window.contentItem);
        verify(controls.length > 5);
        for (const control of controls) {
            control.forceActiveFocus(Qt.TabFocusReason);
            if (!control.activeFocus)
                continue; // it hands it on
            control.visible = false;
            tryVerify(() => {
                const item = controlOf(window.activeFocusItem);
                return item && item !== control && item.visible && item.enabled;
            }, 5000, control.objectName + " " + control);
            control.visible = true;
            control.enabled = false;
            control.enabled = true;
        }
    }

    function test_aMenuMarksAnEntryForTheKeyboard_data() {
        return ["effortButton", "appearanceButton", "toolsButton", "helpButton", "moreButton"].map(name => ({
                    tag: name,
                    button: name
                }));
    }

    function test_aMenuMarksAnEntryForTheKeyboard(row) {
        ask("How?");
        const button = find(row.button);
        const menu = findChild(window, row.button.replace("Button", "Menu"));
        verify(menu, row.button);
        press(button);
        tryVerify(() => menu.opened);
        tryVerify(() => menu.currentIndex >= 0);
        const marked = menu.itemAt(menu.currentIndex);
        verify(marked.highlighted);
        let chosen = false;
        for (let index = 0; index < menu.count; ++index)
            chosen = chosen || menu.itemAt(index).checked;
        compare(marked.checked, chosen);
        verify(chosen || menu.currentIndex === 0);
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !menu.opened);
        tryVerify(() => button.activeFocus);
        mouseClick(button);
        tryVerify(() => menu.opened);
        compare(menu.currentIndex, -1);
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !menu.opened);
    }
}
