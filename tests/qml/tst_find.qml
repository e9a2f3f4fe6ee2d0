// SPDX-License-Identifier: MIT
//
// Finding in the open chat, in the window: keys, count, marks in the text, the way to a match out of sight.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Find"
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

    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    function say(text: string) {
        application.conversation.send(text);
        tryCompare(application.conversation, "busy", false);
    }

    // Of every text on the screen that has some.
    function marks(): list<Item> {
        const found = [];
        const collect = item => {
            if (item instanceof App.MatchMarks && item.count > 0)
                found.push(item);
            for (const child of item.children)
                collect(child);
        };
        collect(find("messageList"));
        return found;
    }

    function test_matchesAreMarkedAndCounted() {
        say("How does a hash map work?");
        press(Qt.Key_F, Qt.ControlModifier);
        tryVerify(() => find("findField").activeFocus);
        Fixture.type(window, "bucket");
        compare(application.conversation.find.query, "bucket");
        verify(application.conversation.find.count > 4);
        // From what the reader sees, which is the end.
        const first = application.conversation.find.current;
        verify(first > 1);
        const count = application.conversation.find.count;
        compare(find("findCount").text, first + " of " + count);
        tryVerify(() => marks().length > 0);
        press(Qt.Key_Return, Qt.ShiftModifier);
        compare(find("findCount").text, (first - 1) + " of " + count);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.find.current, first);
        for (let i = 0; i < count; ++i)
            mouseClick(find("findNext"));
        compare(application.conversation.find.current, first); // round
        find("findPrevious").forceActiveFocus(Qt.TabFocusReason);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.find.current, first - 1);
        press(Qt.Key_Escape, Qt.NoModifier);
        verify(!find("findBar").visible);
        verify(find("composerInput").activeFocus);
        tryVerify(() => marks().length === 0);
    }

    function test_aMatchOutOfSightComesIntoSight() {
        window.height = 400;
        say("long");
        say("needle");
        say("long");
        const list = find("messageList");
        tryVerify(() => list.contentHeight > 3 * list.height);
        press(Qt.Key_F, Qt.ControlModifier);
        Fixture.type(window, "needle");
        compare(application.conversation.find.count, 1);
        tryVerify(() => marks().length === 1);
        const there = () => marks()[0].mapToItem(list, 0, 0).y;
        tryVerify(() => there() >= 0 && there() < list.height);
    }

    function test_theBarCoversNoMessage() {
        window.height = 500;
        say("long");
        const list = find("messageList");
        tryVerify(() => list.contentHeight > 2 * list.height);
        tryVerify(() => list.atYEnd);
        press(Qt.Key_F, Qt.ControlModifier);
        const bar = find("findBar");
        tryVerify(() => bar.visible && bar.height > 0);
        tryVerify(() => list.mapToItem(bar, 0, 0).y >= bar.height);
        tryVerify(() => list.atYEnd); // who read the end still does
        list.contentY = list.originY;
        const first = list.itemAtIndex(0);
        verify(first.mapToItem(bar, 0, 0).y >= bar.height);
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => list.mapToItem(window.contentItem, 0, 0).y <= bar.mapToItem(window.contentItem, 0, 0).y);
    }

    // A message near the end is shown with all that follows, and nothing says that there is more.
    function test_aSearchHitNearTheEndShowsTheEnd() {
        window.height = 500;
        say("long");
        say("rtl needle");
        const list = find("messageList");
        tryVerify(() => list.contentHeight > 2 * list.height);
        list.contentY = list.originY;
        press(Qt.Key_N, Qt.ControlModifier);
        application.search.query = "needle";
        tryVerify(() => application.search.rowCount() === 1);
        window.openHit(0);
        tryVerify(() => list.atYEnd && list.count > 10);
        tryVerify(() => !find("jumpToLatest").visible);
    }

    function test_eachChatHasItsOwn() {
        say("first needle");
        press(Qt.Key_F, Qt.ControlModifier);
        Fixture.type(window, "needle");
        compare(application.conversation.find.count, 1);
        press(Qt.Key_N, Qt.ControlModifier);
        verify(!find("findBar").visible);
        press(Qt.Key_F, Qt.ControlModifier); // nothing to find in an empty chat
        verify(!find("findBar").visible);
        window.openConversation(0);
        tryVerify(() => find("findBar").visible);
        compare(find("findField").text, "needle");
    }

    function test_searchingAllChatsHasItsOwnKeys() {
        say("How?");
        press(Qt.Key_F, Qt.ControlModifier | Qt.ShiftModifier);
        tryVerify(() => find("searchField").activeFocus);
        verify(!find("findBar").visible);
    }

    function test_thePaletteStartsIt() {
        say("How?");
        press(Qt.Key_K, Qt.ControlModifier);
        Fixture.type(window, "find in");
        press(Qt.Key_Return, Qt.NoModifier);
        tryVerify(() => find("findField").activeFocus);
        press(Qt.Key_Escape, Qt.NoModifier);
        verify(!find("findBar").visible);
    }
}
