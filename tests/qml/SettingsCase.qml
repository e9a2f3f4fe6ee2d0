// SPDX-License-Identifier: MIT
//
// A window with the settings, and hands to use them: what the suites of settings share.
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
        let item = null;
        tryVerify(() => (item = findChild(window.contentItem, name)) !== null, 5000, name);
        return item;
    }

    // Something in the popup over the composer.
    function inChat(name: string): Item {
        let item = null;
        tryVerify(() => (item = findChild(findChild(window, "chatOptions").contentItem, name)) !== null, 5000, name);
        return item;
    }

    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    function enter(field: Item, text: string) {
        field.forceActiveFocus();
        field.selectAll();
        Fixture.type(window, text);
        press(Qt.Key_Return, Qt.NoModifier);
    }

    // Once it is where it will be.
    function click(item: Item) {
        waitForPolish(window);
        mouseClick(item);
    }

    function openSection(section: int) {
        window.showPage("settings");
        click(find("section" + section));
    }

    function openChatOptions() {
        click(find("chatOptionsButton"));
        tryVerify(() => findChild(window, "chatOptions").opened);
    }
}
