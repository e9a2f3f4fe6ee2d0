// SPDX-License-Identifier: MIT
//
// One of a few, side by side. The arrow keys move the choice.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

Flow {
    id: root

    required property string name
    required property list<string> choices
    property int current: -1

    signal picked(int choice)

    function step(by: int) {
        const next = current + by;
        if (next < 0 || next >= choices.length)
            return;
        picked(next);
        (buttons.itemAt(next) as TextButton).forceActiveFocus(Qt.TabFocusReason);
    }

    spacing: Theme.step

    Accessible.role: Accessible.Grouping
    Accessible.name: name

    Repeater {
        id: buttons

        model: root.choices

        TextButton {
            id: button

            required property int index
            required property string modelData

            objectName: root.objectName + index
            text: modelData
            checkable: true
            checked: index === root.current
            flat: true
            outlined: true
            ink: checked ? Theme.accent : Theme.text
            // The choice is the owner's: a click that it does not take changes nothing.
            onToggled: {
                checked = Qt.binding(() => button.index === root.current);
                root.picked(index);
            }
            Keys.onLeftPressed: root.step(root.LayoutMirroring.enabled ? 1 : -1)
            Keys.onRightPressed: root.step(root.LayoutMirroring.enabled ? -1 : 1)

            Accessible.role: Accessible.RadioButton
            Accessible.name: qsTr("%1: %2").arg(root.name).arg(text)
            Accessible.checked: checked
        }
    }
}
