// SPDX-License-Identifier: MIT
//
// Selectable text of an answer, from the HTML subset that the Markdown parser writes. Follows only web and mail links.
import QtQuick
import Firesteel.App
import Firesteel.Ui

TextEdit {
    id: root

    property string html
    property bool rightToLeft: false
    property ChatFind find: null
    property int row: -1
    property int part: 0 // of the row
    property real lineHeight: Theme.readingLineHeight // times the size

    text: Theme.readingHtml(html, rightToLeft, Math.round(lineHeight * font.pixelSize))
    textFormat: TextEdit.RichText
    readOnly: true
    selectByMouse: true
    wrapMode: TextEdit.Wrap
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.text
    font.family: Theme.sans
    font.pixelSize: Theme.readingSize
    onLinkActivated: link => {
        if (/^(https?|mailto):/i.test(link))
            Qt.openUrlExternally(link);
    }

    HoverHandler {
        cursorShape: root.hoveredLink !== "" ? Qt.PointingHandCursor : Qt.IBeamCursor
    }

    FindMarks {
        text: root
        find: root.find
        row: root.row
        part: root.part
    }

    Tip {
        text: root.hoveredLink
        visible: root.hoveredLink !== ""
    }

    Accessible.role: Accessible.Paragraph
    Accessible.name: getText(0, length)
}
