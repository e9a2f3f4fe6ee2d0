// SPDX-License-Identifier: MIT
//
// The full text of a licence of others.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ModalCard {
    id: root

    property string words

    function show(name: string, text: string) {
        heading = name;
        words = text;
        open();
    }

    heading: ""

    UiText {
        Layout.fillWidth: true
        text: root.words
        font.family: Theme.mono
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }

    footer: TextButton {
        objectName: "closeLicense"
        Layout.alignment: Qt.AlignRight
        focus: true
        text: qsTr("Close")
        onClicked: root.close()
    }
}
