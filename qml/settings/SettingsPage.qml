// SPDX-License-Identifier: MIT
//
// Everything that can be set, in sections: a list of them at the left where there is room, a row above where there is not.
// Shown by Main.qml in place of the chat.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App as App
import Firesteel.Ui

FocusScope {
    id: root

    required property App.Application application
    property int section: 0
    readonly property bool wide: width >= Math.round(760 * Math.max(1, Theme.fontScale))
    readonly property list<string> names: [qsTr("Loading"), qsTr("Presets"), qsTr("Appearance"), qsTr("Folders"), qsTr("Other engines")]
    readonly property list<Component> sections: [loading, presets, look, folders, engines]

    signal closed

    function go(section: int) {
        if (section < 0 || section >= names.length)
            return;
        root.section = section;
        (tabs.itemAt(section) as TextButton).forceActiveFocus(Qt.TabFocusReason);
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Settings")

    GridLayout {
        anchors.fill: parent
        columns: root.wide ? 2 : 1
        columnSpacing: 0
        rowSpacing: 0

        Flow {
            id: list

            Layout.alignment: Qt.AlignTop
            Layout.margins: Theme.step * 4
            Layout.fillWidth: !root.wide
            Layout.preferredWidth: root.wide ? Math.round(160 * Math.max(1, Theme.fontScale)) : -1
            spacing: Theme.step
            flow: root.wide ? Flow.TopToBottom : Flow.LeftToRight

            Accessible.role: Accessible.PageTabList
            Accessible.name: qsTr("Sections of the settings")

            Repeater {
                id: tabs

                model: root.names

                TextButton {
                    required property int index
                    required property string modelData

                    objectName: "section" + index
                    focus: index === root.section
                    flat: true
                    text: modelData
                    ink: index === root.section ? Theme.accent : Theme.text
                    font.weight: index === root.section ? Font.DemiBold : Font.Normal
                    onClicked: root.section = index
                    Keys.onUpPressed: root.go(index - 1)
                    Keys.onDownPressed: root.go(index + 1)
                    Keys.onLeftPressed: root.go(index + (LayoutMirroring.enabled ? 1 : -1))
                    Keys.onRightPressed: root.go(index + (LayoutMirroring.enabled ? -1 : 1))

                    Accessible.role: Accessible.PageTab
                    Accessible.selected: index === root.section
                }
            }
            TextButton {
                objectName: "settingsBack"
                flat: true
                text: qsTr("Back to the chat")
                ink: Theme.dim
                onClicked: root.closed()
            }
        }

        FollowingFlickable {
            id: page

            objectName: "settingsFlickable"
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.leftMargin: Theme.step * 4
            Layout.rightMargin: Theme.step * 4

            ColumnLayout {
                Layout.fillWidth: true
                Layout.maximumWidth: Theme.columnWidth
                Layout.topMargin: root.wide ? Theme.step * 5 : 0
                Layout.bottomMargin: Theme.step * 6
                spacing: Theme.step * 4

                NoticeCard {
                    Layout.fillWidth: true
                    visible: root.application.settings.notice !== ""
                    title: qsTr("Some settings could not be used")
                    detail: root.application.settings.notice
                    action: qsTr("Dismiss")
                    onTriggered: root.application.settings.dismissNotice()
                }
                Loader {
                    objectName: "settingsSection"
                    Layout.fillWidth: true
                    sourceComponent: root.sections[root.section]
                    onLoaded: page.contentY = 0
                }
            }
        }
    }

    Component {
        id: loading

        LoadSection {
            load: root.application.loadSettings
            engine: root.application.engine
        }
    }
    Component {
        id: presets

        PresetSection {
            presets: root.application.presets
        }
    }
    Component {
        id: look

        LookSection {
            settings: root.application.settings
        }
    }
    Component {
        id: folders

        FolderSection {
            models: root.application.models
            dataFolder: root.application.dataFolder
            onDefaultsRequested: confirmation.ask("defaults", -1, qsTr("Restore the default settings?"), qsTr("Appearance, loading and the preset of new chats are set back. Your chats, presets and models are not changed."), qsTr("Restore defaults"))
        }
    }

    Component {
        id: engines

        EnginesSection {
            engines: root.application.remotes
            onRemovalAsked: (engineId, name) => {
                removal.engineId = engineId;
                removal.ask("engine", -1, qsTr("Remove %1?").arg(name), qsTr("Its key is forgotten. Chats that use it stay; this machine answers in them from now on."), qsTr("Remove"));
            }
        }
    }

    ConfirmDialog {
        id: confirmation

        objectName: "defaultsDialog"
        onConfirmed: root.application.restoreDefaults()
    }
    ConfirmDialog {
        id: removal

        property string engineId

        objectName: "removeEngineDialog"
        onConfirmed: root.application.remotes.remove(engineId)
    }
}
