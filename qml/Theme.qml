// SPDX-License-Identifier: MIT
//
// Every colour, size, font and duration of the window, and nothing else. The one QML singleton; Main.qml binds its inputs
// to the settings.
pragma Singleton

import QtQuick

QtObject {
    id: root

    // Inputs.
    property bool dark: false
    property real fontScale: 1
    property bool reducedMotion: false

    readonly property color page: dark ? "#14161A" : "#FBFAF8"
    readonly property color surface: dark ? "#1B1E24" : "#FFFFFF"
    readonly property color raised: dark ? "#22262E" : "#F3F1EE"
    readonly property color line: dark ? "#2E333D" : "#E3DFD9"
    readonly property color text: dark ? "#E8EAED" : "#1C1B19"
    readonly property color dim: dark ? "#9AA3AF" : "#6B6660"
    readonly property color accent: dark ? "#FF7A45" : "#C2491A"
    readonly property color accentText: dark ? "#14161A" : "#FFFFFF"
    readonly property color good: dark ? "#4CC38A" : "#1F7A4D"
    readonly property color warn: dark ? "#F5B849" : "#8A5A00"
    readonly property color bad: dark ? "#F16A6A" : "#B3302F"
    readonly property color hover: dark ? "#2A2F38" : "#EBE8E3"
    readonly property color found: dark ? "#FFC400" : "#FFB000" // of many, the one that the reader is at
    readonly property color selection: dark ? "#5A3A2C" : "#F6D9CB"
    readonly property color scrim: dark ? "#99000000" : "#4D1C1B19"

    // Everything is set in multiples of one step.
    readonly property int step: 4
    readonly property int radius: 8
    readonly property int cardRadius: 12
    readonly property int columnWidth: Math.round(760 * Math.max(1, fontScale))
    readonly property int controlHeight: Math.round(32 * Math.max(1, fontScale))

    readonly property string sans: "Inter"
    readonly property string mono: "JetBrains Mono NL"
    readonly property int smallSize: Math.round(12 * fontScale)
    readonly property int uiSize: Math.round(13 * fontScale)
    readonly property int readingSize: Math.round(15 * fontScale)
    readonly property int codeSize: Math.round(13 * fontScale)
    readonly property int titleSize: Math.round(20 * fontScale)
    readonly property real readingLineHeight: 1.55

    readonly property int duration: reducedMotion ? 0 : 120

    readonly property int listIndent: Math.round(24 * fontScale)
    readonly property int quoteIndent: step * 4

    // Styles of the tags that the Markdown renderer writes.
    readonly property string linkStyle: "a{color:%1;text-decoration:underline}".arg(accent)
    readonly property string codeStyle: "code{font-family:'%1';font-size:%2px;background-color:%3}".arg(mono).arg(codeSize).arg(raised)

    // A block of reading text. TextEdit has no line height of its own.
    function readingHtml(html: string, rightToLeft: bool, lineHeight: int): string {
        return "<style>p{line-height:%1px;margin:0}%2</style><p dir='%3'>%4</p>".arg(lineHeight).arg(linkStyle + codeStyle).arg(rightToLeft ? "rtl" : "ltr").arg(html);
    }

    function icon(name: string): url {
        return "qrc:/firesteel/icons/symbolic/" + name + ".svg";
    }
}
