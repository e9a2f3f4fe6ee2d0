// SPDX-License-Identifier: MIT
//
// A field for one value that its owner may change, bring into range or refuse: what is typed is handed over with `entered`
// by Enter or when the keyboard leaves, then `value` is shown again. Escape takes the typing back.
import QtQuick
import Firesteel.Ui

Field {
    id: root

    required property string name
    property string value
    property bool live: false // hands over every change of the text as well
    property bool _typing: false

    signal entered(string text)
    signal stepped(int by) // by the arrow keys

    function showValue() {
        _typing = false;
        text = value;
    }

    implicitHeight: Theme.controlHeight
    implicitWidth: Math.round(96 * Math.max(1, Theme.fontScale))
    horizontalAlignment: TextInput.AlignRight
    opacity: enabled ? 1 : 0.6
    onValueChanged: {
        if (!_typing)
            text = value;
    }
    Component.onCompleted: text = value
    onTextEdited: {
        _typing = true;
        if (live && text.trim() !== "")
            entered(text);
    }
    onEditingFinished: {
        if (text !== value)
            entered(text);
        showValue();
    }
    Keys.onEscapePressed: event => {
        event.accepted = text !== value;
        showValue();
    }
    Keys.onUpPressed: stepped(1)
    Keys.onDownPressed: stepped(-1)

    Accessible.name: name
}
