// SPDX-License-Identifier: MIT
//
// Marks in a text item what is looked for in the conversation. A child of that item; nothing exists while nobody looks.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

Loader {
    id: root

    required property TextEdit text
    required property ChatFind find // null: none
    required property int row
    property int part: 0 // of the row, see ChatFind

    signal currentPlaced(rect place) // the match that the reader went to

    anchors.fill: parent
    opacity: 0.4 // over the text: code in it has a colour of its own behind
    active: root.find?.shown ?? false
    sourceComponent: MatchMarks {
        text: root.text
        find: root.find
        row: root.row
        part: root.part
        color: Theme.accent
        currentColor: Theme.found
        onCurrentPlaced: place => root.currentPlaced(place)
    }
}
