// SPDX-License-Identifier: MIT
//
// Every text colour has a contrast of at least 4.5 to 1 on every ground it is put on (WCAG 2.2, 1.4.3), light and dark.
import QtQuick
import QtTest
import Firesteel.Ui

TestCase {
    name: "Theme"

    function luminance(colour: color): real {
        const linear = part => part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
    }

    function contrast(one: color, other: color): real {
        const a = luminance(one);
        const b = luminance(other);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }

    function cleanup() {
        Theme.dark = false;
        Theme.fontScale = 1;
        Theme.reducedMotion = false;
    }

    function test_contrast_data() {
        const rows = [];
        const grounds = ["page", "surface", "raised", "hover"];
        for (const dark of [false, true]) {
            for (const text of ["text", "dim"]) {
                for (const ground of grounds)
                    rows.push([dark, text, ground]);
            }
            for (const text of ["accent", "good", "warn", "bad"]) {
                for (const ground of ["page", "surface"])
                    rows.push([dark, text, ground]);
            }
            rows.push([dark, "accentText", "accent"]);
            rows.push([dark, "text", "selection"]);
        }
        return rows.map(row => ({
                    tag: "%1 on %2, %3".arg(row[1]).arg(row[2]).arg(row[0] ? "dark" : "light"),
                    dark: row[0],
                    text: row[1],
                    ground: row[2]
                }));
    }

    function test_contrast(row) {
        Theme.dark = row.dark;
        const ratio = contrast(Theme[row.text], Theme[row.ground]);
        verify(ratio >= 4.5, ratio.toFixed(2));
    }

    function test_oneSettingScalesEveryTextSize() {
        const sizes = () => [Theme.smallSize, Theme.uiSize, Theme.readingSize, Theme.codeSize, Theme.titleSize];
        const before = sizes();
        Theme.fontScale = 2;
        compare(sizes(), before.map(size => size * 2));
    }

    function test_motionIsShortAndCanBeOff() {
        verify(Theme.duration < 150);
        Theme.reducedMotion = true;
        compare(Theme.duration, 0);
    }
}
