// SPDX-License-Identifier: MIT
//
// Asks before something that cannot be undone. Escape and the first button leave everything as it is.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.Ui

ModalCard {
    id: root

    property string topic
    property int row
    property string act

    signal confirmed(string topic, int row)

    function ask(topic: string, row: int, question: string, consequence: string, verb: string) {
        root.topic = topic;
        root.row = row;
        heading = question;
        detail = consequence;
        act = verb;
        open();
        keep.forceActiveFocus();
    }

    heading: ""

    footer: RowLayout {
        spacing: Theme.step * 2

        Item {
            Layout.fillWidth: true
        }
        TextButton {
            id: keep

            objectName: "confirmNo"
            text: qsTr("Leave it")
            onClicked: root.close()
        }
        TextButton {
            objectName: "confirmYes"
            text: root.act
            ink: Theme.bad
            onClicked: {
                root.close();
                root.confirmed(root.topic, root.row);
            }
        }
    }
}
