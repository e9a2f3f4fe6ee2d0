// SPDX-License-Identifier: MIT
//
// The licence of a model before its first byte: what it allows in plain words, the whole text, where the text is from. The
// box is never ticked beforehand, and declining is as near as accepting.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ModalCard {
    id: root

    required property LicensePrompt prompt

    readonly property bool shown: prompt.state !== LicensePrompt.Closed

    signal agreed
    signal declined
    signal retried

    onShownChanged: {
        box.checked = false;
        if (shown)
            open();
        else
            close();
    }
    onClosed: {
        if (shown)
            declined();
    }

    heading: qsTr("Licence of %1").arg(prompt.modelName)
    detail: prompt.origin

    LoadProgress {
        Layout.fillWidth: true
        visible: root.prompt.state === LicensePrompt.Loading
        words: qsTr("Asking the hub for the licence at this revision")
        determinate: false
    }
    NoticeCard {
        Layout.fillWidth: true
        visible: root.prompt.state === LicensePrompt.Failed
        title: qsTr("The licence at this revision could not be read")
        detail: root.prompt.problem
        action: qsTr("Try again")
        onTriggered: root.retried()
    }
    UiText {
        objectName: "licenseName"
        Layout.fillWidth: true
        text: root.prompt.licenseName
        font.weight: Font.DemiBold
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    UiText {
        Layout.fillWidth: true
        visible: text !== ""
        text: root.prompt.note
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    LicenseWords {
        Layout.fillWidth: true
        heading: qsTr("You may")
        lines: root.prompt.allowed
        symbol: "check"
        tint: Theme.good
    }
    LicenseWords {
        Layout.fillWidth: true
        heading: qsTr("You must")
        lines: root.prompt.required
        symbol: "chevron-right"
        tint: Theme.dim
    }
    LicenseWords {
        Layout.fillWidth: true
        heading: qsTr("You may not")
        lines: root.prompt.forbidden
        symbol: "warning"
        tint: Theme.bad
    }
    UiText {
        Layout.fillWidth: true
        visible: root.prompt.text !== ""
        text: qsTr("In short and without warranty; what counts is the text:")
        color: Theme.dim
        font.pixelSize: Theme.smallSize
    }
    ScrollView {
        id: scroll

        Layout.fillWidth: true
        Layout.fillHeight: true
        Layout.minimumHeight: Theme.step * 30
        Layout.preferredHeight: Theme.step * 68
        visible: root.prompt.text !== ""
        ScrollBar.vertical: ThinScrollBar {
            parent: scroll
            x: scroll.width - width
            height: scroll.height
        }

        TextArea {
            objectName: "licenseText"
            text: root.prompt.text
            readOnly: true
            wrapMode: TextArea.Wrap
            textFormat: TextEdit.PlainText
            selectByMouse: true
            color: Theme.text
            selectionColor: Theme.selection
            selectedTextColor: Theme.text
            font.family: Theme.sans
            font.pixelSize: Theme.smallSize
            KeyNavigation.priority: KeyNavigation.BeforeItem
            KeyNavigation.tab: box.visible ? box : decline
            background: Rectangle {
                color: Theme.page
                border.color: Theme.line
                radius: Theme.radius
            }

            Accessible.name: qsTr("Text of the licence")
        }
    }
    UiText {
        Layout.fillWidth: true
        visible: text !== ""
        text: root.prompt.source
        color: Theme.dim
        font.pixelSize: Theme.smallSize
        wrapMode: Text.WrapAnywhere
        elide: Text.ElideNone
    }

    footer: RowLayout {
        spacing: Theme.step * 2

        CheckBox {
            id: box

            objectName: "licenseBox"
            Layout.fillWidth: true
            visible: root.prompt.acceptable && !root.prompt.accepted
            text: qsTr("I have read the licence and accept it.")
            font.family: Theme.sans
            font.pixelSize: Theme.uiSize
            palette.windowText: Theme.text
            palette.text: Theme.accent
            palette.base: Theme.page
            palette.mid: Theme.line
        }
        UiText {
            Layout.fillWidth: true
            visible: root.prompt.accepted
            text: qsTr("You have accepted this text.")
            color: Theme.dim
        }
        Item {
            Layout.fillWidth: true
            visible: !root.prompt.acceptable
        }
        TextButton {
            id: decline

            objectName: "declineButton"
            text: root.prompt.acceptable && !root.prompt.accepted ? qsTr("Decline") : qsTr("Close")
            onClicked: root.declined()
        }
        TextButton {
            objectName: "acceptButton"
            visible: root.prompt.acceptable && (root.prompt.downloads || !root.prompt.accepted)
            enabled: box.checked || root.prompt.accepted
            primary: true
            text: root.prompt.accepted ? qsTr("Download") : qsTr("Accept and download")
            onClicked: root.agreed()
        }
    }
}
