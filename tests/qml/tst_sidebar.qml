// SPDX-License-Identifier: MIT
//
// The sidebar on stored conversations: what is there after a restart, search, menus, export and import, a store that cannot
// be written.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Sidebar"
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

    function restart() {
        cleanup();
        show(Fixture.restartApplication());
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
        find("composerInput").text = text;
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
    }

    function startSearch(text: string): Item {
        press(Qt.Key_F, Qt.ControlModifier | Qt.ShiftModifier);
        const field = find("searchField");
        tryVerify(() => field.activeFocus);
        for (const letter of text)
            press(letter.toUpperCase().charCodeAt(0), Qt.NoModifier);
        return field;
    }

    function test_chatsAreThereAfterARestart() {
        say("first");
        press(Qt.Key_N, Qt.ControlModifier);
        say("second");
        restart();
        const list = find("conversationList");
        tryCompare(list, "count", 2);
        verify(application.conversation.empty);
        list.forceActiveFocus();
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.title, "first");
        tryCompare(application.conversation, "loading", false);
        compare(application.conversation.messageSource(0), "first");
        tryVerify(() => find("messageList").count > 1);
    }

    function test_searchFindsAndOpens() {
        say("zebra");
        press(Qt.Key_N, Qt.ControlModifier);
        say("second");
        const field = startSearch("zeb");
        const hits = find("searchHits");
        tryVerify(() => hits.visible);
        verify(!find("conversationList").visible);
        tryCompare(hits, "count", 1);
        press(Qt.Key_Down, Qt.NoModifier);
        verify(hits.activeFocus);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.title, "zebra");
        tryVerify(() => find("composerInput").activeFocus);
        field.forceActiveFocus();
        press(Qt.Key_Escape, Qt.NoModifier);
        verify(!field.visible);
        verify(find("composerInput").activeFocus); // not on a button, where the next Enter would press it
        verify(find("conversationList").visible);
        compare(application.search.query, "");
    }

    function test_searchWithoutAMatchSaysSo() {
        say("zebra");
        startSearch("lion");
        tryCompare(application.search, "searching", false);
        verify(find("noMatches").visible);
    }

    function test_searchAgainSelectsTheWords() {
        say("zebra");
        const field = startSearch("z");
        find("composerInput").forceActiveFocus();
        press(Qt.Key_F, Qt.ControlModifier | Qt.ShiftModifier);
        verify(field.activeFocus);
        compare(field.selectedText, "z");
    }

    function test_searchOpensAFoldedSidebar() {
        application.settings.sidebarFolded = true;
        startSearch("");
        verify(!application.settings.sidebarFolded);
    }

    function test_theMenuOfAChatRenames() {
        say("zebra");
        const list = find("conversationList");
        list.forceActiveFocus();
        press(Qt.Key_Menu, Qt.NoModifier);
        const menu = findChild(list, "conversationMenu");
        tryCompare(menu, "opened", true);
        compare(menu.currentIndex, 0); // marked at once
        compare(menu.x, list.currentItem.mapToItem(null, 0, 0).x + Theme.step * 4); // at its row, not at the mouse
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(menu, "opened", false);
        press(Qt.Key_X, Qt.NoModifier);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.title, "x");
    }

    function test_exportAndImportTellHowItWent() {
        say("zebra");
        const bar = find("exchangeBar");
        verify(!bar.visible);
        application.exportConversations("", Fixture.fileUrl("all.json"));
        tryCompare(application, "exchanging", false);
        verify(bar.visible);
        verify(bar.words.includes("all.json"), bar.words);
        application.deleteConversation(0);
        application.importConversations(Fixture.fileUrl("all.json"));
        tryCompare(find("conversationList"), "count", 1);
        application.dismissExchange();
        verify(!bar.visible);
    }

    function test_aSecondInstanceSaysThatNothingIsKept() {
        cleanup();
        Fixture.occupyDatabase();
        show(Fixture.makeApplication());
        const notice = find("storeNotice");
        tryVerify(() => notice.visible);
        verify(notice.detail.includes("already running"), notice.detail);
        compare(notice.action, "");
        say("hello");
        compare(application.conversation.messageSource(0), "hello");
    }

    function test_nothingIsToldWhenAllIsWell() {
        tryCompare(application.database, "state", App.DatabaseThread.Ready);
        verify(!find("storeNotice").visible);
    }
}
