// SPDX-License-Identifier: MIT
//
// A drafter that comes while a model is loaded, and one whose licence is withdrawn, in the whole window: what is offered
// where, and that the chat stays.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "DrafterOffer"
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
        application.conversation.send("How?");
        tryCompare(application.conversation, "busy", false);
        Fixture.showModels(["ready", "downloading"]);
    }

    function cleanup() {
        window.destroy();
        window = null;
        wait(0);
    }

    function offersIn(item: Item): list<Item> {
        let found = item instanceof DrafterOffer && item.visible ? [item] : [];
        for (const child of item.children)
            found = found.concat(offersIn(child));
        return found;
    }

    function press(offer: Item, name: string) {
        findChild(offer, name).forceActiveFocus(Qt.TabFocusReason);
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
    }

    // The one that is on show.
    function offer(): Item {
        tryVerify(() => offersIn(window.contentItem).length === 1);
        return offersIn(window.contentItem)[0];
    }

    function test_oneThatComesLateIsOfferedInTheChat() {
        verify(!application.engine.drafterWaiting);
        compare(offersIn(window.contentItem).length, 0);
        const rows = application.conversation.blocks.count;
        const id = application.conversation.conversationId;
        Fixture.showModels(["ready", "ready"]);
        press(offer(), "noticeAction");
        tryCompare(application.engine, "drafterName", "DFlash2");
        tryCompare(application.engine, "state", App.EngineController.Ready);
        compare(offersIn(window.contentItem).length, 0);
        compare(application.conversation.conversationId, id);
        compare(application.conversation.blocks.count, rows);
        application.conversation.send("And now?");
        tryCompare(application.conversation, "busy", false);
        verify(application.conversation.blocks.count > rows);
    }

    // With OpenGL the growing header leaves the list where it was, below its new beginning.
    function test_itDoesNotPushThePageOfModelsUp() {
        window.height = 400;
        window.showPage("models");
        const list = findChild(window.contentItem, "modelsList");
        tryVerify(() => list.contentHeight > list.height + 100);
        waitForPolish(window);
        list.contentY = list.originY + 60;
        Fixture.showModels(["ready", "ready"]);
        tryVerify(() => offersIn(window.contentItem).length === 1);
        tryVerify(() => list.contentY === list.originY);
    }

    function test_anAnswerThatIsWrittenIsSpokenOf() {
        Fixture.holdTokens();
        Fixture.allowTokens(3);
        application.conversation.send("How?");
        tryVerify(() => application.engine.runningRequests === 1);
        Fixture.showModels(["ready", "ready"]);
        verify(offer().detail.indexOf("reloading ends it") > 0);
        Fixture.releaseTokens();
        tryCompare(application.conversation, "busy", false);
        tryVerify(() => offer().detail.indexOf("reloading ends it") < 0);
    }

    // Where it was said no to, the places that are about models still have it.
    function test_laterIsTakenForAnAnswer() {
        Fixture.showModels(["ready", "ready"]);
        press(offer(), "noticeAlternative");
        compare(offersIn(window.contentItem).length, 0);
        verify(application.engine.drafterWaiting);
        window.showPage("models");
        verify(!findChild(offer(), "noticeAlternative").visible);
        window.settingsSection = 0;
        window.showPage("settings");
        const reload = findChild(window.contentItem, "reloadNow");
        tryVerify(() => reload.visible && reload.enabled);
        reload.forceActiveFocus(Qt.TabFocusReason);
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
        tryCompare(application.engine, "drafterName", "DFlash2");
        tryVerify(() => !reload.visible);
    }

    function test_aWithdrawnOneGoesAndTheChatStays() {
        Fixture.showModels(["ready", "ready"]);
        press(offer(), "noticeAction");
        tryCompare(application.engine, "drafterName", "DFlash2");
        const rows = application.conversation.blocks.count;
        window.showPage("models");
        const list = findChild(window.contentItem, "modelsList");
        tryVerify(() => list.itemAtIndex(1) !== null);
        const button = findChild(list.itemAtIndex(1), "withdrawButton");
        button.forceActiveFocus(Qt.TabFocusReason);
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
        const dialog = findChild(window, "confirmDialog");
        tryVerify(() => dialog.opened);
        verify(dialog.detail.indexOf("loaded again without it") > 0);
        dialog.close();
        Fixture.showModels(["ready", "available"]); // as the download thread tells it
        tryCompare(application.engine, "drafterName", "");
        tryCompare(application.engine, "state", App.EngineController.Ready);
        compare(offersIn(window.contentItem).length, 0);
        window.showChat();
        compare(application.conversation.blocks.count, rows);
        application.conversation.send("And now?");
        tryCompare(application.conversation, "busy", false);
    }
}
