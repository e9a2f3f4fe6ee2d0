// SPDX-License-Identifier: MIT
//
// ‹ 2/3 ›: which version of a message is on show, and the way to the others. Nothing where there is only one.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.Ui

Row {
    id: root

    property int version: 1
    property int versions: 1
    property bool canSwitch: true

    signal stepped(int step, bool byKeyboard)

    function step(by: int, byKeyboard: bool) {
        if (canSwitch && version + by >= 1 && version + by <= versions)
            stepped(by, byKeyboard);
    }

    // After a step by keyboard, so that the next key goes on from there.
    function takeFocus(by: int) {
        const wanted = by < 0 ? previous : next;
        (wanted.enabled ? wanted : by < 0 ? next : previous).forceActiveFocus(Qt.TabFocusReason);
    }

    objectName: "versionSwitcher"
    visible: versions > 1
    spacing: Theme.step

    Keys.onLeftPressed: step(-1, true)
    Keys.onRightPressed: step(1, true)

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Version %1 of %2").arg(version).arg(versions)

    IconButton {
        id: previous

        objectName: "previousVersion"
        size: Theme.controlHeight - Theme.step
        enabled: root.canSwitch && root.version > 1
        symbol: "chevron-left"
        hint: qsTr("Previous version")
        onClicked: root.step(-1, visualFocus)
    }
    UiText {
        anchors.verticalCenter: parent.verticalCenter
        text: qsTr("%1/%2").arg(root.version).arg(root.versions)
        color: Theme.dim
        font.pixelSize: Theme.smallSize

        Accessible.ignored: true
    }
    IconButton {
        id: next

        objectName: "nextVersion"
        size: Theme.controlHeight - Theme.step
        enabled: root.canSwitch && root.version < root.versions
        symbol: "chevron-right"
        hint: qsTr("Next version")
        onClicked: root.step(1, visualFocus)
    }
}
