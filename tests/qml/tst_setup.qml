// SPDX-License-Identifier: MIT
//
// The first run and the benchmark in the whole window: shown once, left and resumed, every step reached by keys.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Setup"
    when: windowShown

    Component {
        id: windowComponent

        Main {}
    }

    function open(application: App.Application) {
        test.application = application;
        window = windowComponent.createObject(test, {
            application: application
        });
        window.requestActivate();
        tryVerify(() => window.active);
    }

    function close() {
        window.destroy();
        window = null;
        wait(0);
    }

    function cleanup() {
        if (window)
            close();
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

    function test_isShownAtTheFirstStart() {
        open(Fixture.firstStart("laptop"));
        compare(window.shownPage, "setup");
        Fixture.start();
        tryVerify(() => item("setupVerdict").text !== "");
        verify(item("setupVerdict").text.indexOf("Glimmer") > 0);
        verify(item("setupChat").visible);
        // What helps here has the accent, and it alone.
        verify(item("setupChat").primary);
        verify(!item("setupNext").primary);
        application.setup.next();
        verify(item("setupNext").primary);
        application.setup.back();
        verify(findChild(window.contentItem, "setupButton").visible);
        mouseClick(item("setupChat"));
        compare(window.shownPage, "");
        verify(application.setup.finished);
        verify(!findChild(window.contentItem, "setupButton").visible);
        verify(item("composerInput").activeFocus);
    }

    // Without a mouse: what helps has the keyboard from the beginning.
    function test_enterGoesOn_data(): var {
        return [
            {
                tag: "laptop",
                focused: "setupChat",
                page: ""
            },
            {
                tag: "spark",
                focused: "setupNext",
                page: "setup"
            }
        ];
    }

    function test_enterGoesOn(data: var) {
        open(Fixture.firstStart(data.tag));
        Fixture.start();
        tryVerify(() => item("setupVerdict").text !== "");
        tryVerify(() => item(data.focused).activeFocus);
        Fixture.keyClick(window, Qt.Key_Return, Qt.NoModifier);
        compare(window.shownPage, data.page);
        compare(application.setup.step, data.page === "" ? App.SetupController.Check : App.SetupController.Folder);
    }

    function test_isNotShownAgain() {
        open(Fixture.makeApplication());
        compare(window.shownPage, "");
        verify(!findChild(window.contentItem, "setupButton").visible);
    }

    function test_goesOnWhereItWasLeft_data(): var {
        return [
            {
                tag: "button",
                leave: () => press("setupLater")
            },
            {
                tag: "escape",
                leave: () => Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier)
            },
            {
                tag: "new chat",
                leave: () => window.newConversation()
            }
        ];
    }

    function test_goesOnWhereItWasLeft(data: var) {
        open(Fixture.firstStart("spark"));
        tryVerify(() => item("setupVerdict").text !== "");
        verify(item("setupVerdict").text.indexOf("can run") > 0);
        verify(!item("setupChat").visible);
        verify(item("setupNext").primary);
        press("setupNext");
        verify(item("modelsFolderText").text.indexOf(application.models.modelsFolder) > 0);
        press("setupNext");
        compare(application.setup.step, App.SetupController.Licences);
        data.leave();
        compare(window.shownPage, "");
        verify(!application.setup.wanted);
        verify(!application.setup.finished);
        press("setupButton");
        compare(window.shownPage, "setup");
        compare(application.setup.step, App.SetupController.Licences);
        press("setupBack");
        compare(application.setup.step, App.SetupController.Folder);
    }

    // The licences are read and declined here as on the page of models.
    function test_offersTheLicences() {
        open(Fixture.firstStart("spark"));
        application.setup.show(App.SetupController.Licences);
        Fixture.showModels(["available", "available", "added"]);
        const content = item("setupContent");
        compare(findChild(content, "modelCard2").visible, false); // a folder is no step
        mouseClick(findChild(findChild(content, "modelCard1"), "downloadButton"));
        const dialog = findChild(window, "licenseDialog");
        verify(dialog.opened);
        Fixture.answerTerms(1);
        mouseClick(findChild(dialog, "declineButton"));
        tryVerify(() => !dialog.visible);
        compare(application.models.prompt.state, App.LicensePrompt.Closed);
        compare(findChild(content, "modelCard1").consent, "");
    }

    function test_showsTheDownloadAndLetsChat() {
        open(Fixture.firstStart("spark"));
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
        application.setup.show(App.SetupController.Download);
        Fixture.showModels(["downloading", "available"]);
        const card = findChild(item("setupContent"), "modelCard0");
        verify(card.progressText.indexOf("min left") > 0);
        verify(item("setupChatMeanwhile").visible);
        press("setupChatMeanwhile");
        compare(window.shownPage, "");
        compare(application.setup.step, App.SetupController.Download);
    }

    function test_loadsWhatIsHere() {
        open(Fixture.firstStart("spark"));
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
        application.setup.show(App.SetupController.Load);
        Fixture.showModels(["available", "available"]);
        verify(!item("setupLoad").visible);
        press("setupToDownload");
        compare(application.setup.step, App.SetupController.Download);
        application.setup.show(App.SetupController.Load);
        Fixture.showModels(["ready", "available"]);
        Fixture.failLoad("config.json: not there");
        press("setupLoad");
        tryCompare(application.engine, "state", App.EngineController.Failed);
        verify(item("setupUseShipped").visible);
        verify(!item("setupLoaded").visible);
        Fixture.failLoad("");
        press("setupUseShipped");
        compare(application.settings.modelFolder, "");
        tryCompare(application.engine, "state", App.EngineController.Ready);
        press("setupLoad");
        tryVerify(() => item("setupLoaded").visible);
        verify(item("setupLoaded").text.indexOf("8,192 tokens") > 0, item("setupLoaded").text);
    }

    function test_endsWithTheBenchmark() {
        open(Fixture.firstStart("spark"));
        Fixture.start();
        tryVerify(() => application.benchmark.available);
        application.setup.show(App.SetupController.Benchmark);
        compare(item("setupNext").text, "Finish");
        press("benchmarkButton");
        tryVerify(() => application.benchmark.measured && !application.benchmark.running, 10000);
        verify(item("benchmarkSubject").text.indexOf("Glimmer") === 0);
        verify(item("benchmarkNote").text.indexOf("cannot be compared") > 0);
        verify(item("ownFigure").text.indexOf("tok/s") > 0);
        press("setupNext");
        verify(application.setup.finished);
        compare(window.shownPage, "");
    }

    // As Glimmer's help says: the menu of tools, then benchmark.
    function test_findsTheBenchmarkInTheToolsMenu() {
        open(Fixture.makeApplication());
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
        mouseClick(item("toolsButton"));
        const menu = findChild(window, "toolsMenu");
        tryVerify(() => menu.opened);
        mouseClick(findChild(menu.contentItem, "benchmarkEntry"));
        compare(window.shownPage, "benchmark");
        verify(item("benchmarkButton").enabled);
        Fixture.keyClick(window, Qt.Key_Escape, Qt.NoModifier);
        compare(window.shownPage, "");
        mouseClick(item("toolsButton"));
        mouseClick(findChild(menu.contentItem, "setupEntry"));
        compare(window.shownPage, "setup");
        compare(item("setupLater").text, "Close");
    }

    function test_tabWalksThroughTheSteps() {
        open(Fixture.firstStart("laptop"));
        tryVerify(() => item("setupVerdict").text !== "");
        item("setupStep0").forceActiveFocus(Qt.TabFocusReason);
        const seen = [];
        for (let i = 0; i < 9; ++i) {
            Fixture.keyClick(window, Qt.Key_Tab, Qt.NoModifier);
            seen.push(window.activeFocusItem.objectName);
        }
        compare(seen, ["setupStep1", "setupStep2", "setupStep3", "setupStep4", "setupStep5", "setupChat", "setupRecheck", "setupLater", "setupNext"]);
    }
}
