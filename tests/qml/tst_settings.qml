// SPDX-License-Identifier: MIT
//
// The settings page and the settings of one chat in the whole window, by mouse and by keyboard.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Settings"
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
                names: ["contextChoice0", "contextSlider", "contextField", "reserveField", "threadsField"]
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

    function test_presetsAreMadeNamedAndDeleted() {
        openSection(1);
        verify(!find("presetName").enabled); // Standard
        verify(!find("deletePreset").enabled);
        verify(!find("temperatureSlider").enabled);
        click(find("newPreset"));
        tryVerify(() => find("presetName").activeFocus);
        Fixture.type(window, "Poet");
        press(Qt.Key_Return, Qt.NoModifier);
        compare(find("preset1").text, "Poet");
        enter(find("temperatureField"), "1.5");
        compare(find("temperatureState").text, "Changed here. Model's default: 1");
        click(find("defaultPreset"));
        compare(find("preset1").text, "Poet · default");
        click(find("duplicatePreset"));
        compare(find("preset2").text, "Poet 2");
        compare(find("temperatureField").text, "1.5");
        click(find("deletePreset"));
        compare(application.presets.rowCount(), 2);
        const bar = find("presetUndo");
        verify(bar.visible);
        click(findChild(bar, "undoButton"));
        compare(find("preset2").text, "Poet 2");
    }

    function test_parametersAreEditedAndReset() {
        application.presets.create();
        openSection(1);
        const prompt = find("systemPromptArea");
        prompt.forceActiveFocus();
        Fixture.type(window, "Rhyme.");
        press(Qt.Key_Tab, Qt.NoModifier);
        compare(find("systemPromptState").text, "Changed here. Default: none");
        find("temperatureSlider").forceActiveFocus();
        press(Qt.Key_Left, Qt.NoModifier);
        compare(find("temperatureField").text, "0.95");
        enter(find("temperatureField"), "9");
        compare(find("temperatureField").text, "2");
        enter(find("temperatureField"), "hot");
        compare(find("temperatureField").text, "2");
        find("thinkingChoice1").forceActiveFocus();
        press(Qt.Key_Right, Qt.NoModifier);
        verify(find("thinkingChoice2").checked);
        verify(find("thinkingChoice2").activeFocus);
        click(find("clearThinkingToggle"));
        compare(application.presets.parameters.chosenCount, 4);
        // Far down the page: brought into sight first.
        find("temperatureReset").forceActiveFocus();
        press(Qt.Key_Space, Qt.NoModifier);
        compare(find("temperatureField").text, "1");
        compare(find("temperatureState").text, "Model's default: 1");
        compare(application.presets.parameters.chosenCount, 3);
    }

    function test_aTypedPromptIsKeptWhenThePageCloses() {
        application.presets.create();
        openSection(1);
        find("systemPromptArea").forceActiveFocus();
        Fixture.type(window, "Rhyme.");
        press(Qt.Key_Escape, Qt.NoModifier);
        compare(window.shownPage, "");
        tryCompare(application.presets.parameters, "chosenCount", 1);
    }

    function test_theChatDiffersFromItsPresetAndGoesBack() {
        application.presets.create();
        application.presets.rename(1, "Poet");
        openChatOptions();
        verify(!inChat("resetToPreset").visible);
        click(inChat("chatPreset"));
        const menu = findChild(window, "chatPresetMenu");
        tryVerify(() => menu.opened);
        compare(menu.count, 2);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Down, Qt.NoModifier);
        press(Qt.Key_Return, Qt.NoModifier);
        compare(application.conversation.options.presetName, "Poet");
        enter(inChat("topPField"), "0.5");
        verify(application.conversation.options.differs);
        compare(inChat("differsText").visible, true);
        compare(find("chatOptionsButton").text, "Poet · changed");
        compare(application.presets.parameters.chosenCount, 0); // the preset itself is as it was
        click(inChat("resetToPreset"));
        verify(!application.conversation.options.differs);
        compare(find("chatOptionsButton").text, "Poet");
        press(Qt.Key_Escape, Qt.NoModifier);
        tryVerify(() => !findChild(window, "chatOptions").opened);
        verify(find("chatOptionsButton").activeFocus);
    }

    function test_theChatsOwnChoicesBecomeAPreset() {
        openChatOptions();
        enter(inChat("topKField"), "5");
        click(inChat("saveAsPreset"));
        compare(application.conversation.options.presetName, "Standard 2");
        verify(!application.conversation.options.differs);
        click(inChat("editPresets"));
        compare(window.shownPage, "settings");
        compare(find("preset1").text, "Standard 2");
        compare(find("topKField").text, "5");
    }

    function test_theChatsOptionsFitASmallWindow() {
        window.width = 720;
        window.height = 480;
        openChatOptions();
        const popup = findChild(window, "chatOptions");
        tryVerify(() => popup.y >= 0 && popup.y + popup.height <= 480);
        tryVerify(() => popup.x >= 0 && popup.x + popup.width <= 720);
        const stop = inChat("stopArea");
        stop.forceActiveFocus();
        const view = inChat("chatOptionsFlickable");
        tryVerify(() => stop.mapToItem(view, 0, 0).y < view.height);
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
