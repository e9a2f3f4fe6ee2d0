// SPDX-License-Identifier: MIT
//
// The endpoint's page in the whole window: found in the tools menu, worked with the keyboard.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Endpoint"
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
        window.showPage("endpoint");
    }

    function cleanup() {
        window.destroy();
        window = null;
        wait(0);
    }

    function item(name: string): Item {
        const found = findChild(window.contentItem, name);
        verify(found, name);
        return found;
    }

    function press(name: string) {
        item(name).forceActiveFocus(Qt.TabFocusReason);
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
    }

    function typeInto(name: string, text: string) {
        const field = item(name);
        field.forceActiveFocus(Qt.TabFocusReason);
        field.selectAll();
        Fixture.type(window, text);
        Fixture.keyClick(window, Qt.Key_Return, Qt.NoModifier);
    }

    function test_isFoundInTheToolsMenu() {
        const back = item("endpointBack");
        tryVerify(() => back.mapToItem(null, 0, 0).x > window.width / 2);
        verify(waitForPolish(window)); // laid out
        mouseClick(back);
        compare(window.shownPage, "");
        mouseClick(item("toolsButton"));
        const menu = findChild(window, "toolsMenu");
        tryVerify(() => menu.opened);
        mouseClick(findChild(menu.contentItem, "endpointEntry"));
        compare(window.shownPage, "endpoint");
    }

    function test_isSwitchedOnAndOff() {
        verify(!application.endpoint.running);
        // Not the port of an endpoint that somebody uses.
        typeInto("endpointPort", "18686");
        compare(application.endpoint.port, 18686);
        press("endpointEnabled");
        verify(application.endpoint.enabled);
        tryVerify(() => application.endpoint.running || application.endpoint.errorText !== "");
        compare(item("endpointError").visible, application.endpoint.errorText !== "");
        press("endpointEnabled");
        verify(!application.endpoint.enabled);
        tryVerify(() => !application.endpoint.running && application.endpoint.errorText === "");
    }

    function switchOn() {
        verify(application.endpoint.setPortText(String(Fixture.freePort())));
        application.endpoint.enabled = true;
        tryVerify(() => application.endpoint.running, 60000);
    }

    function test_aSignTellsThatItIsOn() {
        window.showChat();
        const sign = item("endpointSign");
        const dot = item("endpointDot");
        tryCompare(application.engine, "state", App.EngineController.Ready);
        verify(!sign.visible);
        switchOn();
        verify(sign.visible);
        compare(sign.Accessible.name, "Endpoint");
        verify(sign.Accessible.description.includes(application.endpoint.url));
        verify(sign.Accessible.description.endsWith("Running requests: 0"));
        compare(dot.color, Theme.good);
        Fixture.holdTokens();
        const request = new XMLHttpRequest();
        request.open("POST", application.endpoint.url + "/chat/completions");
        request.setRequestHeader("Content-Type", "application/json");
        request.send(JSON.stringify({
            model: "any",
            messages: [
                {
                    role: "user",
                    content: "Hello"
                }
            ]
        }));
        tryVerify(() => sign.Accessible.description.endsWith("Running requests: 1"), 60000);
        verify(item("endpointRunning").visible);
        compare(item("endpointRunning").text, "1");
        application.endpoint.log.clear(); // of rows; what runs goes on
        verify(sign.Accessible.description.endsWith("Running requests: 1"));
        Fixture.releaseTokens();
        tryVerify(() => sign.Accessible.description.endsWith("Running requests: 0"), 60000);
        tryCompare(request, "status", 200);
        application.engine.unload();
        tryCompare(application.engine, "state", App.EngineController.Unloaded);
        verify(sign.Accessible.description.includes("No model is loaded"));
        compare(dot.color, Theme.warn);
        press("endpointSign");
        compare(window.shownPage, "endpoint");
        application.endpoint.enabled = false;
        verify(!sign.visible);
    }

    function test_theSignTellsWhatFailed() {
        tryCompare(application.engine, "state", App.EngineController.Ready);
        switchOn();
        compare(item("endpointDot").color, Theme.good);
        verify(application.endpoint.setAddressText("192.0.2.1")); // of no machine; it needs a key too
        tryVerify(() => application.endpoint.errorText !== "", 60000);
        verify(item("endpointSign").Accessible.description.includes(application.endpoint.errorText));
        compare(item("endpointDot").color, Theme.bad);
        application.endpoint.enabled = false;
    }

    function test_refusesAPortThatIsNone() {
        const port = application.endpoint.port;
        typeInto("endpointPort", "70000");
        compare(application.endpoint.port, port);
        compare(item("endpointPort").text, String(port));
    }

    function test_warnsOfOtherComputers() {
        typeInto("endpointAddress", "0.0.0.0");
        verify(application.endpoint.exposed);
        verify(!item("endpointRequiresKey").enabled);
        verify(item("endpointRequiresKey").checked);
        typeInto("endpointAddress", "127.0.0.1");
        verify(!application.endpoint.exposed);
    }

    function test_showsAKeyOnce() {
        typeInto("endpointKeyName", "Editor");
        const key = application.endpoint.newKey;
        verify(key.startsWith("fsk-"));
        compare(item("endpointNewKey").text, key);
        press("endpointCopyKey");
        compare(Fixture.clipboardText(), key);
        press("endpointDismissKey");
        compare(application.endpoint.newKey, "");
        compare(application.endpoint.keys.length, 1);
        press("endpointRemoveKey");
        compare(application.endpoint.keys.length, 0);
    }

    function test_takesOriginsOnly() {
        typeInto("endpointOrigin", "example");
        verify(item("endpointOriginProblem").visible);
        typeInto("endpointOrigin", "https://App.example/");
        verify(!item("endpointOriginProblem").visible);
        compare(application.endpoint.origins, ["https://app.example"]);
        press("endpointRemoveOrigin");
        compare(application.endpoint.origins, []);
    }
}
