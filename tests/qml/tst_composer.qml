// SPDX-License-Identifier: MIT
//
// Writing a message: what sends it, what does not, how far the box grows.
import QtQuick
import QtTest
import Firesteel.Test
import Firesteel.Ui

Item {
    id: root

    width: 640
    height: 400

    Composer {
        id: composer

        width: 600
        canSend: true

        TextButton {
            text: "tool"
        }
    }

    SignalSpy {
        id: submitted

        target: composer
        signalName: "submitted"
    }

    SignalSpy {
        id: stopped

        target: composer
        signalName: "stopped"
    }

    TestCase {
        name: "Composer"
        when: windowShown

        function init() {
            composer.text = "";
            composer.busy = false;
            composer.canSend = true;
            composer.focusInput();
            submitted.clear();
            stopped.clear();
        }

        function input(): Item {
            return findChild(composer, "composerInput");
        }

        function type(text: string) {
            for (const letter of text)
                keyClick(letter);
        }

        function test_enterSendsAndEmptiesTheBox() {
            type("hi");
            keyClick(Qt.Key_Return);
            compare(submitted.count, 1);
            compare(submitted.signalArguments[0][0], "hi");
            compare(composer.text, "");
        }

        function test_keypadEnterSends() {
            type("hi");
            keyClick(Qt.Key_Enter, Qt.KeypadModifier);
            compare(submitted.count, 1);
        }

        function test_shiftEnterStartsALine() {
            type("a");
            keyClick(Qt.Key_Return, Qt.ShiftModifier);
            type("b");
            compare(submitted.count, 0);
            compare(composer.text, "a\nb");
            keyClick(Qt.Key_Return);
            compare(submitted.signalArguments[0][0], "a\nb");
        }

        function test_blankIsNotSent() {
            type("   ");
            keyClick(Qt.Key_Return);
            compare(submitted.count, 0);
            compare(composer.text, "   ");
        }

        function test_textStaysWhileNothingCanBeSent_data() {
            return [
                {
                    tag: "an answer is being made",
                    busy: true,
                    canSend: true
                },
                {
                    tag: "no model is ready",
                    busy: false,
                    canSend: false
                }
            ];
        }

        function test_textStaysWhileNothingCanBeSent(row) {
            composer.busy = row.busy;
            composer.canSend = row.canSend;
            type("later");
            keyClick(Qt.Key_Return);
            compare(submitted.count, 0);
            compare(composer.text, "later");
        }

        function test_nothingIsSentWhileAnInputMethodComposes() {
            type("x");
            Fixture.compose(input(), "かな");
            verify(input().preeditText !== "");
            keyClick(Qt.Key_Return);
            compare(submitted.count, 0);
            verify(!composer.text.includes("\n"));

            Fixture.commit(input(), "仮名");
            compare(input().preeditText, "");
            keyClick(Qt.Key_Return);
            compare(submitted.count, 1);
            compare(submitted.signalArguments[0][0], "x仮名");
        }

        function test_theButtonSendsAndStops() {
            const button = findChild(composer, "sendButton");
            verify(!button.enabled);
            type("hi");
            verify(button.enabled);
            mouseClick(button);
            compare(submitted.count, 1);
            composer.busy = true;
            verify(button.enabled);
            compare(button.Accessible.name, button.hint);
            mouseClick(button);
            compare(stopped.count, 1);
        }

        function test_growsToEightLinesThenScrolls() {
            const one = composer.height;
            composer.text = "1\n2\n3\n4";
            tryVerify(() => composer.height > one);
            const four = composer.height;
            composer.text = Array(8).fill("line").join("\n");
            tryVerify(() => composer.height > four);
            const eight = composer.height;
            composer.text = Array(60).fill("line").join("\n");
            wait(50);
            fuzzyCompare(composer.height, eight, Theme.step * 4);
        }

        function test_tabLeavesTheBox() {
            keyClick(Qt.Key_Tab);
            verify(!input().activeFocus);
            compare(composer.text, "");
        }
    }
}
