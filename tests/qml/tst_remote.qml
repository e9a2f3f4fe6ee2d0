// SPDX-License-Identifier: MIT
//
// Another machine's engine in the whole window: added, tested, chosen for a chat, answering, removed. The other machine is
// the endpoint of the same program.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

SettingsCase {
    name: "Remote"

    function addEngine(address: string) {
        openSection(4);
        click(find("addEngine"));
        tryVerify(() => find("engineName").activeFocus);
        Fixture.type(window, "Two Sparks");
        press(Qt.Key_Tab, Qt.NoModifier);
        verify(find("engineAddress").activeFocus);
        Fixture.type(window, address);
    }

    // The address of the endpoint, which is on from now on, at the first port that nobody uses.
    function serve(): string {
        const endpoint = application.endpoint;
        for (let port = 18701; port < 18720 && !endpoint.running; ++port) {
            endpoint.enabled = false;
            verify(endpoint.setPortText(String(port)));
            endpoint.enabled = true;
            tryVerify(() => endpoint.running || endpoint.errorText !== "");
        }
        verify(endpoint.running, endpoint.errorText);
        return "127.0.0.1:" + endpoint.port;
    }

    function test_anEngineIsAddedAndAnswers() {
        addEngine(serve());
        press(Qt.Key_Return, Qt.NoModifier); // tests it
        tryVerify(() => find("engineModel0").visible, 10000);
        verify(!application.remotes.testFailed);
        click(find("saveEngine"));
        compare(application.remotes.count, 1);
        verify(!find("engineName").visible);
        compare(find("editEngine0").Accessible.name, "Edit Two Sparks");

        click(find("settingsBack"));
        openChatOptions();
        click(inChat("chatEngine"));
        const menu = findChild(window, "chatEngineMenu");
        tryVerify(() => menu.opened);
        compare(menu.count, 2);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Return, Qt.NoModifier);
        tryCompare(application.conversation, "remote", true);
        compare(inChat("chatEngine").text, "Two Sparks");
        press(Qt.Key_Escape, Qt.NoModifier);
        application.conversation.send("Hello");
        tryVerify(() => !application.conversation.busy, 30000);
        verify(application.conversation.messageSource(1) !== "");
        tryVerify(() => application.endpoint.log.rowCount() > 0);

        application.settings.panelFolded = false;
        tryVerify(() => findChild(window.contentItem, "remoteState")?.text === "Firesteel", 10000);
        compare(find("remoteHeading").text, "Two Sparks, another machine");

        openSection(4);
        click(find("removeEngine0"));
        tryVerify(() => findChild(window, "removeEngineDialog").opened);
        click(findChild(findChild(window, "removeEngineDialog"), "confirmYes"));
        tryCompare(application.remotes, "count", 0);
        verify(!application.conversation.remote);
        verify(application.conversation.options.engineNotice.includes("Two Sparks"));
    }

    function test_aWrongAddressIsToldAtOnce() {
        addEngine("http://127.0.0.1:9"); // nobody listens
        click(find("testEngine"));
        tryVerify(() => application.remotes.testFailed, 10000);
        verify(find("engineTestText").text.includes("127.0.0.1:9"));
        click(find("saveEngine"));
        verify(find("engineProblem").visible);
        compare(application.remotes.count, 0);
    }

    function test_plainTextToAnotherMachineIsSaid() {
        addEngine("http://spark:8000");
        verify(find("engineNotice").visible);
        verify(find("engineNotice").text.includes("unencrypted"));
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !find("engineAddress").visible);
        verify(find("addEngine").visible);
        verify(find("addEngine").activeFocus);
    }
}
