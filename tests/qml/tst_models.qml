// SPDX-License-Identifier: MIT
//
// The page of models in the whole window: what each state offers, the licence dialog, questions before destruction, keys.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Models"
    when: windowShown

    Component {
        id: windowComponent

        Main {}
    }

    SignalSpy {
        id: used

        signalName: "useRequested"
    }

    function init() {
        application = Fixture.makeApplication();
        window = windowComponent.createObject(test, {
            application: application
        });
        window.requestActivate();
        tryVerify(() => window.active);
        window.showPage("models");
        used.target = application.models;
        used.clear();
    }

    function cleanup() {
        window.destroy();
        window = null;
        wait(0);
    }

    function card(row: int): Item {
        const list = findChild(window.contentItem, "modelsList");
        tryVerify(() => list.itemAtIndex(row) !== null);
        return list.itemAtIndex(row);
    }

    function button(row: int, name: string): Item {
        const item = findChild(card(row), name);
        verify(item, name);
        return item;
    }

    function dialog(name: string): QtObject {
        const found = findChild(window, name);
        verify(found, name);
        return found;
    }

    // Something in a dialog.
    function over(name: string): Item {
        const item = findChild(dialog(name.startsWith("confirm") ? "confirmDialog" : "licenseDialog"), name);
        verify(item, name);
        return item;
    }

    function visibleButtons(row: int): list<string> {
        return ["downloadButton", "useButton", "actionButton", "pauseButton", "resumeButton", "cancelButton", "licenseButton", "removeButton", "withdrawButton"].filter(name => button(row, name).visible);
    }

    function test_offersWhatTheStateAllows_data(): var {
        return [
            {
                tag: "available",
                buttons: ["downloadButton"]
            },
            {
                tag: "downloading",
                buttons: ["pauseButton", "cancelButton", "licenseButton"]
            },
            {
                tag: "waiting",
                buttons: ["pauseButton", "cancelButton", "licenseButton"]
            },
            {
                tag: "paused",
                buttons: ["resumeButton", "cancelButton", "licenseButton"]
            },
            {
                tag: "gated",
                buttons: ["actionButton", "resumeButton", "cancelButton", "licenseButton"]
            },
            {
                tag: "full",
                buttons: ["resumeButton", "cancelButton", "licenseButton"]
            },
            {
                tag: "ready",
                buttons: ["useButton", "licenseButton", "removeButton"]
            }
        ];
    }

    function test_offersWhatTheStateAllows(data: var) {
        Fixture.showModels([data.tag, data.tag]);
        compare(visibleButtons(0), data.buttons);
        // The drafter is not a model to chat with, and its consent can be withdrawn.
        const drafter = data.buttons.filter(name => name !== "useButton");
        if (data.tag !== "available")
            drafter.push("withdrawButton");
        compare(visibleButtons(1), drafter);
        compare(findChild(card(0), "progressBar").visible, data.tag !== "available" && data.tag !== "ready" && data.tag !== "gated");
    }

    function test_saysHowFarItIs() {
        Fixture.showModels(["downloading", "full"]);
        verify(card(0).progressText.indexOf("112") > 0);
        verify(card(0).progressText.indexOf("7 min left") > 0, card(0).progressText);
        verify(findChild(card(1), "problemText").text.indexOf("71.4 GB are free") > 0);
        fuzzyCompare(card(0).fraction, 0.48, 0.001);
    }

    function test_keepsTheFocusWhileNumbersChange() {
        Fixture.showModels(["downloading", "available"]);
        const pause = button(0, "pauseButton");
        pause.forceActiveFocus();
        Fixture.showModels(["waiting", "available"]);
        compare(button(0, "pauseButton"), pause);
        verify(pause.activeFocus);
    }

    function test_asksForConsentBeforeTheDownload() {
        Fixture.showModels(["ready", "available"]);
        mouseClick(button(1, "downloadButton"));
        compare(application.models.prompt.state, App.LicensePrompt.Loading);
        verify(dialog("licenseDialog").opened);
        verify(!over("acceptButton").visible);
        Fixture.answerTerms(1);
        tryVerify(() => over("acceptButton").visible);
        verify(over("licenseText").text.indexOf("Section 8") > 0);
        verify(!over("licenseBox").checked);
        verify(!over("acceptButton").enabled);
        mouseClick(over("licenseBox"));
        verify(over("acceptButton").enabled);
        mouseClick(over("declineButton"));
        tryVerify(() => !dialog("licenseDialog").visible);
        // The tick of last time does not count.
        application.models.review(1);
        Fixture.answerTerms(1);
        verify(!over("licenseBox").checked);
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        tryCompare(application.models.prompt, "state", App.LicensePrompt.Closed);
    }

    function test_storesTheConsent() {
        Fixture.start();
        tryCompare(findChild(window.contentItem, "modelsList"), "count", 2);
        application.models.review(1);
        Fixture.answerTerms(1);
        mouseClick(over("licenseBox"));
        mouseClick(over("acceptButton"));
        tryVerify(() => card(1).consent !== "");
        verify(!dialog("licenseDialog").visible);
    }

    function test_saysWhenTheLicenseIsAnother() {
        Fixture.showModels(["available", "available"]);
        application.models.review(1);
        Fixture.answerTerms(1);
        verify(application.models.prompt.note.indexOf("decline") > 0);
        Fixture.answerTermsOfAnotherLicense(1);
        verify(application.models.prompt.note.indexOf("another licence") > 0);
    }

    function test_asksBeforeItDestroys_data(): var {
        return [
            {
                tag: "cancel",
                state: "downloading",
                name: "cancelButton"
            },
            {
                tag: "remove",
                state: "ready",
                name: "removeButton"
            },
            {
                tag: "withdraw",
                state: "ready",
                name: "withdrawButton"
            }
        ];
    }

    function test_asksBeforeItDestroys(data: var) {
        Fixture.showModels(["ready", data.state]);
        mouseClick(button(1, data.name));
        verify(dialog("confirmDialog").opened);
        verify(over("confirmNo").activeFocus); // Enter by mistake destroys nothing
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !dialog("confirmDialog").visible);
    }

    function test_switchesTheModel() {
        Fixture.showModels(["ready", "ready", "added"]);
        mouseClick(button(2, "useButton"));
        compare(used.count, 1);
        compare(application.settings.modelFolder, "/media/models/glm-5.3-flash-3.05bpw");
        verify(card(2).inUse);
        verify(!button(2, "useButton").visible);
        verify(button(0, "useButton").visible);
    }

    function test_tellsOtherWeightsApart() {
        Fixture.showModels(["available", "available", "other"]);
        verify(card(2).stateText.indexOf("other weights") > 0);
        compare(visibleButtons(2), ["removeButton"]);
    }

    function test_takesATokenAndShowsNoneOfIt() {
        Fixture.showModels(["gated", "available"]);
        const list = findChild(window.contentItem, "modelsList");
        const open = findChild(list.footerItem, "tokenButton");
        open.forceActiveFocus();
        Fixture.keyClick(window, Qt.Key_Space, Qt.NoModifier);
        const field = findChild(list.footerItem, "tokenField");
        verify(field.activeFocus);
        compare(field.echoMode, TextInput.Password);
        field.text = "hf_secret";
        Fixture.keyClick(window, Qt.Key_Return, Qt.NoModifier);
        verify(application.models.hasToken);
        verify(application.models.tokenText.indexOf("hf_secret") < 0);
        compare(field.text, "");
    }

    function test_escapeAndShortcutsLead() {
        verify(window.shownPage === "models");
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        verify(window.shownPage === "");
        verify(findChild(window.contentItem, "composerInput").activeFocus);
        Fixture.keyClick(window, Qt.Key_M, Qt.ControlModifier | Qt.ShiftModifier);
        verify(window.shownPage === "models");
        mouseClick(findChild(window.contentItem, "modelsBack"));
        verify(window.shownPage === "");
    }

    // Tab reaches every button of a card, in order.
    function test_tabWalksThroughTheCards() {
        Fixture.showModels(["downloading", "ready"]);
        button(0, "pauseButton").forceActiveFocus(Qt.TabFocusReason);
        const seen = [];
        for (let i = 0; i < 5; ++i) {
            Fixture.keyClick(window, Qt.Key_Tab, Qt.NoModifier);
            seen.push(window.activeFocusItem.objectName);
        }
        compare(seen, ["cancelButton", "licenseButton", "licenseButton", "removeButton", "withdrawButton"]);
    }
}
