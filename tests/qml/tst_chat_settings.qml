// SPDX-License-Identifier: MIT
//
// Presets and the settings of one chat in the whole window, by mouse and by keyboard.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

SettingsCase {
    name: "ChatSettings"

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

    function test_theThinkingBudgetIsTypedAndTakenBack() {
        openChatOptions();
        const field = inChat("thinkingBudgetField");
        compare(field.text, "no limit");
        compare(inChat("thinkingBudgetState").text, "Default: no limit");
        enter(field, "3");
        compare(inChat("thinkingBudgetState").text, "Changed here. Default: no limit");
        verify(application.conversation.options.differs);
        enter(field, "no limit");
        compare(field.text, "no limit");
        verify(!application.conversation.options.differs);
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
}
