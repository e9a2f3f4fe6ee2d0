// SPDX-License-Identifier: MIT
//
// The settings page in the whole window, by mouse and by keyboard: sections, loading, looks, defaults.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

SettingsCase {
    name: "Settings"

    function test_theShortcutAndTheButtonOpenThePage() {
        press(Qt.Key_Comma, Qt.ControlModifier);
        compare(window.shownPage, "settings");
        verify(find("settingsSection").item);
        press(Qt.Key_Escape, Qt.NoModifier);
        compare(window.shownPage, "");
        verify(find("composerInput").activeFocus);
        click(find("settingsButton"));
        compare(window.shownPage, "settings");
        click(find("settingsBack"));
        compare(window.shownPage, "");
    }

    function test_sectionsAreWalkedByArrows() {
        press(Qt.Key_Comma, Qt.ControlModifier);
        tryVerify(() => find("section0").activeFocus);
        press(Qt.Key_Down, Qt.NoModifier);
        verify(find("section1").activeFocus);
        verify(find("newPreset").visible);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Down, Qt.NoModifier);
        verify(find("section4").activeFocus);
        verify(find("addEngine").visible);
        press(Qt.Key_Up, Qt.NoModifier);
        verify(find("section3").activeFocus);
        verify(find("restoreDefaults").visible);
        // The page remembers where it was.
        press(Qt.Key_Escape, Qt.NoModifier);
        press(Qt.Key_Comma, Qt.ControlModifier);
        verify(find("restoreDefaults").visible);
    }

    function test_tabReachesEverythingAndScrollsThere_data(): var {
        return [
            {
                tag: "loading",
                section: 0,
                names: ["contextChoice0", "contextSlider", "contextField", "sequencesField", "reserveField", "threadsField"]
            },
            {
                tag: "presets",
                section: 1,
                names: ["preset0", "preset1", "newPreset", "presetName", "duplicatePreset", "deletePreset", "systemPromptArea", "temperatureSlider", "temperatureField", "seedField", "stopArea"]
            },
            {
                tag: "appearance",
                section: 2,
                names: ["appearanceChoice0", "textSizeSlider", "reducedMotionToggle", "statisticsToggle", "rendererChoice1"]
            },
            {
                tag: "folders",
                section: 3,
                names: ["openDataFolder", "openModelsFolder", "changeModelsFolder", "restoreDefaults"]
            },
            {
                tag: "other engines",
                section: 4,
                names: ["addEngine"]
            }
        ];
    }

    function test_tabReachesEverythingAndScrollsThere(data: var) {
        window.width = 720;
        window.height = 480;
        application.presets.create();
        openSection(data.section);
        const first = find("section" + data.section);
        first.forceActiveFocus();
        const view = find("settingsFlickable");
        const seen = [];
        let steps = 0;
        do {
            press(Qt.Key_Tab, Qt.NoModifier);
            const item = window.activeFocusItem;
            verify(item, "focus got lost after " + seen.join(", "));
            seen.push(item.objectName);
            if (data.names.includes(item.objectName)) {
                const top = item.mapToItem(view, 0, 0).y;
                verify(top >= -1 && top < view.height, item.objectName + " is at " + top + " of " + view.height);
                verify(item.Accessible.name !== "" || item.text !== "", item.objectName);
            }
        } while (window.activeFocusItem !== first && ++steps < 120)
        for (const name of data.names)
            verify(seen.includes(name), name + " is not in " + seen.join(", "));
    }

    function test_theContextShowsItsMemoryWhileTyped() {
        openSection(0);
        const field = find("contextField");
        field.forceActiveFocus();
        field.selectAll();
        Fixture.type(window, "4096");
        tryVerify(() => find("needText").text.includes("16 MiB for the context"));
        compare(application.loadSettings.contextTokens, 4096);
        verify(find("reloadNow").visible);
        // Still typing: nothing was loaded.
        compare(application.engine.contextTokens, 8192);
        Fixture.type(window, "0");
        tryVerify(() => find("loadRefusal").visible);
        verify(find("loadRefusal").text.includes("8192"), find("loadRefusal").text);
        verify(!find("reloadNow").enabled);
        press(Qt.Key_Backspace, Qt.NoModifier);
        tryVerify(() => find("reloadNow").enabled);
        press(Qt.Key_Return, Qt.NoModifier);
        click(find("reloadNow"));
        tryCompare(application.engine, "contextTokens", 4096);
        tryCompare(application.engine, "state", App.EngineController.Ready);
        tryVerify(() => !find("reloadNow").visible);
    }

    function test_theContextIsDraggedAndRefusedForWantOfMemory() {
        openSection(0);
        enter(find("reserveField"), "7");
        tryCompare(application.loadSettings, "reserveGibibytes", 7);
        const slider = find("contextSlider");
        waitForPolish(window);
        mousePress(slider, 2, slider.height / 2);
        mouseMove(slider, slider.width - 2, slider.height / 2);
        mouseRelease(slider, slider.width - 2, slider.height / 2);
        compare(application.loadSettings.contextTokens, 8192);
        tryVerify(() => find("loadRefusal").text.includes("A context of 8,192 tokens needs 1.5 GiB; 1.0 GiB are free beside the reserve of 7.0 GiB"));
        click(find("discardLoad"));
        tryCompare(application.loadSettings, "changed", false);
        compare(application.loadSettings.reserveGibibytes, 2);
        slider.forceActiveFocus();
        press(Qt.Key_Left, Qt.NoModifier);
        verify(application.loadSettings.contextTokens > 0);
        verify(application.loadSettings.contextTokens < 8192);
    }

    function test_aChangeCanWaitForTheNextStart() {
        openSection(0);
        enter(find("threadsField"), "3");
        tryVerify(() => find("applyLater").enabled);
        click(find("applyLater"));
        verify(!application.loadSettings.changed);
        verify(application.loadSettings.waiting);
        verify(find("reloadNow").visible);
        verify(!find("applyLater").visible);
    }

    function test_badInputShowsWhatApplies() {
        openSection(0);
        const field = find("threadsField");
        enter(field, "many");
        compare(field.text, "0");
        enter(field, "7");
        compare(field.text, "7");
        field.selectAll();
        Fixture.type(window, "99");
        press(Qt.Key_Escape, Qt.NoModifier); // takes the typing back, not the page
        compare(field.text, "7");
        compare(window.shownPage, "settings");
        press(Qt.Key_Up, Qt.NoModifier);
        compare(application.loadSettings.threads, 8);
    }

    function test_theLookFollows() {
        openSection(2);
        click(find("appearanceChoice2"));
        verify(Theme.dark);
        click(find("appearanceChoice1"));
        verify(!Theme.dark);
        verify(find("appearanceChoice1").checked);
        find("textSizeSlider").forceActiveFocus();
        press(Qt.Key_Right, Qt.NoModifier);
        compare(application.settings.fontScale, 1.1);
        compare(Theme.uiSize, 14);
        click(find("reducedMotionToggle"));
        verify(!application.settings.reducedMotion);
        click(find("statisticsToggle"));
        verify(!application.settings.showStatistics);
        find("rendererChoice1").forceActiveFocus();
        press(Qt.Key_Space, Qt.NoModifier);
        verify(application.settings.rendererWaiting);
    }

    function test_defaultsAreRestoredAfterAQuestion() {
        application.settings.fontScale = 1.2;
        openSection(3);
        click(find("restoreDefaults"));
        const dialog = findChild(window, "defaultsDialog");
        tryVerify(() => dialog.opened);
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !dialog.opened);
        compare(application.settings.fontScale, 1.2);
        click(find("restoreDefaults"));
        tryVerify(() => dialog.opened);
        click(findChild(dialog, "confirmYes"));
        compare(application.settings.fontScale, 1);
    }
}
