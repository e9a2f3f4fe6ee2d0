// SPDX-License-Identifier: MIT
//
// The whole window by keyboard: where pages begin, in which order, what is marked and what can be seen.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

KeyboardCase {
    name: "Keyboard"

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
