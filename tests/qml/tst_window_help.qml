// SPDX-License-Identifier: MIT
//
// What helps a person: the palette of actions, the help menu, licences, the lines of a problem report; a load that is
// stopped, a start after a crash.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "WindowHelp"
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

    // Key events of a TestCase go to its own window; this sends them to the one under test.
    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    function ready() {
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function test_thePaletteFindsAndRunsActions() {
        ready();
        press(Qt.Key_K, Qt.ControlModifier);
        const palette = findChild(window, "actionPalette");
        tryVerify(() => palette.opened);
        const field = findChild(palette.contentItem, "paletteField");
        tryVerify(() => field.activeFocus);
        field.text = "ABOUT";
        compare(palette.matches.length, 1);
        press(Qt.Key_Return, Qt.NoModifier);
        tryVerify(() => !palette.opened);
        compare(window.shownPage, "about");
        press(Qt.Key_Escape, Qt.NoModifier);
        compare(window.shownPage, "");
        press(Qt.Key_K, Qt.ControlModifier);
        tryVerify(() => palette.opened);
        compare(field.text, "");
        field.text = "no such action";
        compare(palette.matches.length, 0);
        press(Qt.Key_Return, Qt.NoModifier);
        verify(palette.opened);
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !palette.opened);
    }

    function test_theHelpMenuLeadsToActionsAndAbout() {
        ready();
        mouseClick(find("helpButton"));
        const menu = findChild(find("helpButton"), "helpMenu");
        tryVerify(() => menu.opened);
        verify(menu.y + menu.height <= 0); // above its button, at the window's lower edge
        menu.itemAt(0).triggered();
        tryVerify(() => findChild(window, "actionPalette").opened);
        findChild(window, "actionPalette").close();
        menu.itemAt(3).triggered();
        compare(window.shownPage, "about");
    }

    function test_theModelIsUnloadedAndLoadedFromThePalette() {
        ready();
        const palette = findChild(window, "actionPalette");
        const run = text => palette.actions.find(action => action.text === text).trigger();
        run("Unload the model");
        compare(application.engine.state, App.EngineController.Unloaded);
        run("Load the model");
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function test_licencesOfOthersAreShown() {
        ready();
        window.showPage("about");
        const rows = () => findChild(window.contentItem, "licenseList");
        tryVerify(() => rows() !== null && rows().count > 10);
        const dialog = findChild(window, "licenseText");
        for (let i = 0; i < rows().count; ++i)
            verify(application.about.licenseText(i).length > 20, i);
        compare(application.about.licenseText(-1), "");
        compare(application.about.licenseText(rows().count), "");
        tryVerify(() => rows().itemAtIndex(0) !== null);
        rows().itemAtIndex(0).clicked();
        tryVerify(() => dialog.opened);
        verify(dialog.words.includes("GNU LESSER GENERAL PUBLIC LICENSE"));
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !dialog.opened);
    }

    function test_aProblemReportHoldsNoPaths() {
        ready();
        window.showPage("about");
        tryVerify(() => findChild(window.contentItem, "copyReport") !== null);
        tryVerify(() => application.monitor.memory.total > 0);
        find("copyReport").clicked();
        const report = Fixture.clipboardText();
        verify(report.startsWith("Firesteel "), report);
        verify(report.includes("Glimmer"), report);
        verify(report.includes("GPU: NVIDIA GB10, driver 580.95.05"), report);
        verify(!report.includes("/tmp"), report);
    }

    function test_loadingCanBeStopped_data() {
        return [
            {
                tag: "by its button"
            },
            {
                tag: "by Escape"
            }
        ];
    }

    function test_loadingCanBeStopped(row) {
        Fixture.slowLoad(60000);
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Loading);
        tryVerify(() => findChild(window.contentItem, "stopLoading")?.visible ?? false);
        if (row.tag === "by Escape")
            press(Qt.Key_Escape, Qt.NoModifier);
        else
            mouseClick(find("stopLoading"));
        tryCompare(application.engine, "state", App.EngineController.Unloaded);
        tryVerify(() => find("notice").visible);
        compare(find("notice").action, "Load the model");
        Fixture.slowLoad(0);
        find("notice").triggered();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }

    function test_afterACrashAPersonLoadsTheModel() {
        cleanup();
        application = Fixture.makeApplicationAfterCrash();
        window = windowComponent.createObject(test, {
            application: application
        });
        Fixture.start();
        tryVerify(() => find("notice").visible);
        compare(application.engine.state, App.EngineController.Unloaded);
        verify(find("notice").detail.includes("did not end properly"), find("notice").detail);
        compare(application.conversation.empty, true); // nor is the last chat opened
        find("notice").triggered();
        tryCompare(application.engine, "state", App.EngineController.Ready);
    }
}
