// SPDX-License-Identifier: MIT
//
// The keyboard in the whole window: where it goes when the control that had it is gone.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

KeyboardCase {
    name: "Focus"

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
}
