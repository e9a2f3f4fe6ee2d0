// SPDX-License-Identifier: MIT
//
// Where models will live, and how much room is there.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property SetupController setup
    required property ModelsController models

    spacing: Theme.step * 4

    StepHeading {
        Layout.fillWidth: true
        heading: qsTr("Where should models live?")
        words: qsTr("GLM-5.3-Flash takes 85 GB and its drafter 2.3 GB. A fast disk loads them in less than a minute. Files that other programs have downloaded from Hugging Face are used as they are.")
    }
    NoticeCard {
        Layout.fillWidth: true
        visible: title !== ""
        title: root.models.notice
        action: qsTr("Dismiss")
        onTriggered: root.models.dismissNotice()
    }
    ModelsFolderRow {
        Layout.fillWidth: true
        models: root.models
    }
    UiText {
        objectName: "setupDisk"
        Layout.fillWidth: true
        visible: root.setup.checks.length > 3
        text: visible ? qsTr("%1 %2").arg(root.setup.checks[3].found).arg(root.setup.checks[3].needed) : ""
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
