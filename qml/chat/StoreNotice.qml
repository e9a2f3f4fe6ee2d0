// SPDX-License-Identifier: MIT
//
// What a person must know of the stored conversations: that nothing is kept, that a file was repaired, that a chat cannot be
// opened. One at a time, the most pressing first.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

NoticeCard {
    id: root

    required property DatabaseThread database
    property string loadError // of the conversation on show

    readonly property bool troubled: database.stateText !== ""
    readonly property bool repaired: !troubled && database.notice !== ""
    readonly property bool stalled: database.state === DatabaseThread.Stalled

    objectName: "storeNotice"
    visible: troubled || repaired || loadError !== ""
    title: {
        if (database.state === DatabaseThread.Damaged)
            return qsTr("The stored chats are damaged");
        if (stalled)
            return qsTr("Chats wait to be stored");
        if (troubled)
            return qsTr("Chats are not kept");
        return repaired ? qsTr("The stored chats were repaired") : qsTr("This chat cannot be opened");
    }
    detail: troubled ? database.stateText : repaired ? database.notice : loadError
    action: stalled ? qsTr("Try again") : repaired ? qsTr("Dismiss") : ""
    onTriggered: {
        if (stalled)
            database.retry();
        else
            database.dismissNotice();
    }
}
