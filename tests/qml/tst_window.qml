// SPDX-License-Identifier: MIT
//
// The whole window on the scripted engine: states of the model, a chat, shortcuts, focus, folds.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Window"
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

    function input(): Item {
        return find("composerInput");
    }

    // Key events of a TestCase go to its own window; this sends them to the one under test.
    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    function ready() {
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function say(text: string) {
        input().text = text;
        press(Qt.Key_Return, Qt.NoModifier);
    }

    function test_theTitleNamesTheChatAndTheProgram() {
        ready();
        compare(window.title, "Firesteel");
        say("first");
        tryCompare(window, "title", "first · Firesteel");
    }

    function test_theComposerHasTheKeyboardAtFirst() {
        ready();
        tryVerify(() => input().activeFocus);
    }

    function test_theStatesOfTheModelAreShown() {
        Fixture.hideModel();
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.NoModel);
        tryVerify(() => find("notice").visible);
        compare(find("notice").title, "Firesteel needs a model");
        verify(find("notice").action !== "");
    }

    function test_loadingShowsStageAndProgress() {
        Fixture.slowLoad(400);
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Loading);
        tryVerify(() => find("loadProgress").visible);
        tryVerify(() => find("loadProgress").words === "Reading weights");
        tryCompare(application.engine, "state", App.EngineController.Ready);
        tryVerify(() => findChild(window.contentItem, "loadProgress") === null);
    }

    Component {
        id: progressComponent

        LoadProgress {
            words: "Working"
        }
    }

    // A licence that is read, a benchmark that runs: those have buttons of their own.
    function test_aStopIsOfferedOnlyWhereItStops() {
        const progress = createTemporaryObject(progressComponent, window.contentItem);
        const stop = findChild(progress, "stopLoading");
        verify(!stop.visible);
        progress.stoppable = true;
        verify(stop.visible);
    }

    function test_aFailedLoadSaysWhyAndCanBeTriedAgain() {
        Fixture.failLoad("config.json: no field hidden_size");
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Failed);
        const card = find("notice");
        verify(card.detail.includes("config.json: no field hidden_size"), card.detail);
        Fixture.failLoad("");
        card.triggered();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function test_aMessageIsAnsweredAndListed() {
        ready();
        compare(application.conversations.count, 0);
        say("How does a hash map work?");
        compare(input().text, "");
        tryCompare(application.conversation, "busy", false);
        compare(application.conversations.count, 1);
        verify(find("messageList").count > 8);
        compare(application.conversation.draft, "");
    }

    function test_escapeStopsTheAnswer() {
        ready();
        Fixture.holdTokens();
        Fixture.allowTokens(3);
        say("How?");
        tryVerify(() => application.conversation.busy);
        press(Qt.Key_Escape, Qt.NoModifier);
        tryCompare(application.conversation, "busy", false);
    }

    function test_aDraftStaysWithItsConversation() {
        ready();
        say("first");
        tryCompare(application.conversation, "busy", false);
        input().text = "half a thought";
        press(Qt.Key_N, Qt.ControlModifier);
        compare(input().text, "");
        application.openConversation(0);
        compare(input().text, "half a thought");
    }

    function test_shortcutsFoldAndFocus() {
        ready();
        verify(!application.settings.sidebarFolded);
        press(Qt.Key_B, Qt.ControlModifier);
        verify(application.settings.sidebarFolded);
        press(Qt.Key_B, Qt.ControlModifier);
        verify(!application.settings.sidebarFolded);
        press(Qt.Key_P, Qt.ControlModifier | Qt.ShiftModifier);
        verify(!application.settings.panelFolded);
        find("panelToggle").forceActiveFocus();
        verify(!input().activeFocus);
        press(Qt.Key_L, Qt.ControlModifier);
        verify(input().activeFocus);
        find("panelToggle").forceActiveFocus();
        press(Qt.Key_Slash, Qt.NoModifier);
        verify(input().activeFocus);
        compare(input().text, "");
    }

    function test_aNarrowWindowOpensTheSidebarOverTheChat() {
        ready();
        window.width = 720;
        window.height = 480;
        tryVerify(() => findChild(window.contentItem, "conversationList") === null);
        press(Qt.Key_B, Qt.ControlModifier);
        tryVerify(() => findChild(window, "sidebarDrawer").opened);
        verify(!application.settings.sidebarFolded);
        window.width = 1280;
        tryVerify(() => !findChild(window, "sidebarDrawer").opened);
    }

    function test_tabReachesEveryControlAndComesBack() {
        ready();
        say("How does a hash map work?");
        tryCompare(application.conversation, "busy", false);
        input().forceActiveFocus();
        let steps = 0;
        const seen = [];
        do {
            press(Qt.Key_Tab, Qt.NoModifier);
            const item = window.activeFocusItem;
            verify(item, "focus got lost after " + seen.join(", "));
            if (find("conversationList").activeFocus)
                seen.push("conversationList");
            seen.push(item.objectName || item.Accessible?.name || String(item));
        } while (window.activeFocusItem !== input() && ++steps < 60)
        verify(steps < 60, seen.join(", "));
        for (const name of ["sidebarToggle", "appearanceButton", "panelToggle", "conversationList", "messageList"])
            verify(seen.includes(name), name + " is not in " + seen.join(", "));
    }

    function test_darkAndLightFollowTheSetting() {
        application.settings.appearance = App.AppSettings.Dark;
        verify(Theme.dark);
        compare(window.color, Theme.page);
        application.settings.appearance = App.AppSettings.Light;
        verify(!Theme.dark);
    }

    function test_renamingByKeyboard_data() {
        return [
            {
                tag: "Enter keeps the new title",
                end: Qt.Key_Return,
                title: "x"
            },
            {
                tag: "Escape keeps the old one",
                end: Qt.Key_Escape,
                title: "first"
            }
        ];
    }

    function test_renamingByKeyboard(row) {
        ready();
        say("first");
        tryCompare(application.conversation, "busy", false);
        const list = find("conversationList");
        list.forceActiveFocus();
        press(Qt.Key_F2, Qt.NoModifier);
        press(Qt.Key_X, Qt.NoModifier);
        press(row.end, Qt.NoModifier);
        compare(application.conversation.title, row.title);
        verify(list.activeFocus);
    }

    function test_enterOpensTheConversationInTheList() {
        ready();
        say("first");
        tryCompare(application.conversation, "busy", false);
        const first = application.conversation;
        press(Qt.Key_N, Qt.ControlModifier);
        verify(application.conversation !== first);
        find("conversationList").forceActiveFocus();
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation, first);
        tryVerify(() => input().activeFocus);
    }

    function test_deletingCanBeUndone() {
        ready();
        say("first");
        tryCompare(application.conversation, "busy", false);
        application.deleteConversation(0);
        compare(application.conversations.count, 0);
        tryVerify(() => find("undoBar").visible);
        mouseClick(find("undoButton"));
        compare(application.conversations.count, 1);
    }
}
