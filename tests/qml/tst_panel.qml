// SPDX-License-Identifier: MIT
//
// The performance panel in the window: what it shows, what it costs when nobody looks, its buttons. The GPU is a fake
// driver's GB10.
import QtQuick
import QtTest
import Firesteel.App as App
import Firesteel.Test
import Firesteel.Ui

TestCase {
    id: test

    property App.Application application
    property Main window

    name: "Panel"
    when: windowShown

    Component {
        id: windowComponent

        Main {}
    }

    function init() {
        application = Fixture.makeApplication();
        application.settings.panelFolded = false;
        window = windowComponent.createObject(test, {
            application: application
        });
        window.requestActivate();
        tryVerify(() => window.active);
        Fixture.start();
        tryCompare(application.engine, "state", App.EngineController.Ready);
        tryVerify(() => application.monitor.memory.total > 0, 10000);
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

    function press(key: int, modifiers: int) {
        Fixture.keyClick(window, key, modifiers);
    }

    // Every item below, itself included.
    function all(item: Item): list<Item> {
        let items = [item];
        for (const child of item.children)
            items = items.concat(all(child));
        return items;
    }

    function rowOf(name: string): MetricRow {
        const rows = all(find("panelScroll")).filter(item => item instanceof MetricRow && item.metric.name === name);
        compare(rows.length, 1, name);
        return rows[0];
    }

    function test_theMachineIsShown() {
        compare(rowOf("Power").metric.text, "61 W");
        compare(rowOf("Clock").metric.text, "2,230 MHz");
        verify(!find("gpuProblem").visible);
        const memory = find("memoryBar").memory;
        fuzzyCompare(memory.weights + memory.states + memory.program + memory.others + memory.free, memory.total, 1);
        const mark = find("reserveMark");
        verify(mark.x > 0 && mark.x < mark.parent.width);
    }

    function test_nothingIsSampledWhereNobodyLooks() {
        verify(application.monitor.sampling);
        press(Qt.Key_P, Qt.ControlModifier | Qt.ShiftModifier);
        tryVerify(() => !application.monitor.sampling);
        press(Qt.Key_P, Qt.ControlModifier | Qt.ShiftModifier);
        tryVerify(() => application.monitor.sampling);
        window.visibility = Window.Minimized;
        tryVerify(() => !application.monitor.sampling);
        window.visibility = Window.Windowed;
        tryVerify(() => application.monitor.sampling);
    }

    function test_aFigureShowsItsHistory() {
        const power = rowOf("Power");
        const clock = rowOf("Clock");
        const folded = power.height;
        mouseClick(power);
        verify(power.checked);
        tryVerify(() => power.height > folded);
        clock.forceActiveFocus();
        press(Qt.Key_Space, Qt.NoModifier);
        verify(clock.checked);
        verify(!power.checked);
        press(Qt.Key_Return, Qt.NoModifier);
        verify(!clock.checked);
    }

    function test_aFocusedFigureComesIntoSight() {
        window.height = 400;
        const scroll = find("panelScroll");
        const clock = rowOf("Clock");
        tryVerify(() => scroll.height < 400);
        clock.forceActiveFocus(Qt.TabFocusReason);
        const top = clock.mapToItem(scroll, 0, 0).y;
        verify(top >= 0 && top + clock.height <= scroll.height, top);
    }

    function test_pausingKeepsWhatWasSeen() {
        mouseClick(find("pauseMonitor"));
        verify(application.monitor.paused);
        verify(!application.monitor.sampling);
        compare(rowOf("Power").metric.text, "61 W");
        mouseClick(find("pauseMonitor"));
        verify(application.monitor.sampling);
    }

    function test_theHistoryIsCopiedAsCsv() {
        mouseClick(find("copyCsv"));
        const lines = Fixture.clipboardText().split("\n");
        verify(lines[0].startsWith("time (UTC),decode (tok/s),"), lines[0]);
        verify(lines.length > 2);
    }

    function test_guessesAreShownOnceADrafterRuns() {
        verify(!find("acceptanceBars").visible);
        verify(find("draftingText").text.startsWith("Nothing was guessed yet"));
        Fixture.draft(2, 2);
        Fixture.draft(2, 1);
        tryVerify(() => find("acceptanceBars").visible, 10000);
        const bars = all(find("acceptanceBars")).filter(item => item.objectName === "acceptanceBar");
        compare(bars.length, 2);
        tryCompare(bars[0], "height", bars[0].parent.height);
        tryCompare(bars[1], "height", bars[1].parent.height / 2);
        verify(find("draftingText").text.startsWith("1.50 guesses accepted per step"), find("draftingText").text);
        // Nothing was guessed in the last second.
        tryCompare(rowOf("Verifying, a step").metric, "text", "resting", 10000);
    }

    function test_aRequestIsStoppedFromThePanel() {
        Fixture.holdTokens();
        Fixture.allowTokens(3);
        application.conversation.send("How?");
        tryVerify(() => application.monitor.requests.count === 1, 10000);
        tryVerify(() => application.monitor.decoding);
        const buttons = all(find("panelScroll")).filter(item => item.objectName === "stopRequest");
        compare(buttons.length, 1);
        // It lies below what the panel shows at once.
        const scroll = find("panelScroll");
        tryVerify(() => scroll.contentHeight > scroll.height);
        scroll.contentY = scroll.contentHeight - scroll.height;
        tryVerify(() => scroll.contains(buttons[0].mapToItem(scroll, buttons[0].width / 2, buttons[0].height / 2)));
        mouseClick(buttons[0]);
        tryCompare(application.conversation, "busy", false);
        tryVerify(() => application.monitor.requests.count === 0, 10000);
        verify(!application.monitor.decoding);
    }

    function test_readingAPromptHasProgress() {
        verify(!find("prefillProgress").visible);
        Fixture.slowPrefill(60000);
        application.conversation.send("How?");
        tryVerify(() => find("prefillProgress").visible, 10000);
        application.conversation.stop();
        tryVerify(() => !find("prefillProgress").visible, 10000);
    }
}
