// SPDX-License-Identifier: MIT
//
// A window with a model that is ready, and hands to use it by keyboard: what the suites of focus share.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

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

    function isIn(item: Item, part: Item): bool {
        while (item && item !== part)
            item = item.parent;
        return item !== null;
    }
}
