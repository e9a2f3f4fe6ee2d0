// SPDX-License-Identifier: MIT
//
// The chat's preset and whether it differs from it; opens what can be set for this chat alone.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

TextButton {
    id: root

    required property ChatOptions options
    readonly property bool opened: popup.opened
    readonly property string presetText: options.differs ? qsTr("%1 · changed").arg(options.presetName) : options.presetName

    signal presetsRequested // the page where they are edited

    objectName: "chatOptionsButton"
    flat: true
    symbol: "chevron-down"
    ink: options.differs ? Theme.accent : Theme.dim
    text: options.engineId === "" ? presetText : qsTr("%1 · %2").arg(options.engineName).arg(presetText)
    LayoutMirroring.enabled: Qt.locale().textDirection === Qt.LeftToRight // the chevron stands after the words
    onClicked: popup.open()

    Accessible.name: qsTr("Settings of this chat")
    Accessible.description: options.differs ? qsTr("Differs from the preset %1").arg(options.presetName) : qsTr("Preset %1").arg(options.presetName)

    Tip {
        text: root.options.differs ? qsTr("Settings of this chat, which differ from the preset") : qsTr("Settings of this chat")
        visible: root.hovered && !popup.visible
    }

    Popup {
        id: popup

        // The button stands at the foot of the window.
        readonly property real room: (parent?.height ?? 0) - Theme.controlHeight - Theme.step * 10
        property real left: 0

        objectName: "chatOptions"
        parent: Overlay.overlay
        x: Math.max(Theme.step * 4, Math.min(left, (parent?.width ?? 0) - width - Theme.step * 4))
        y: Math.max(Theme.step * 4, room - height)
        width: Math.min(Math.round(560 * Math.max(1, Theme.fontScale)), parent ? parent.width - Theme.step * 8 : 560)
        height: Math.min(implicitHeight, room - Theme.step * 4)
        onAboutToShow: left = root.mapToItem(parent, 0, 0).x
        padding: Theme.step * 4
        modal: true
        dim: false
        focus: true
        closePolicy: Popup.CloseOnEscape | Popup.CloseOnPressOutside
        enter: null
        exit: null
        onOpened: presetButton.forceActiveFocus(Qt.PopupFocusReason)
        onClosed: root.forceActiveFocus(Qt.PopupFocusReason)

        background: Rectangle {
            color: Theme.surface
            border.color: Theme.line
            radius: Theme.cardRadius
        }

        contentItem: ColumnLayout {
            spacing: Theme.step * 3

            Accessible.role: Accessible.Dialog
            Accessible.name: qsTr("Settings of this chat")

            RowLayout {
                Layout.fillWidth: true
                spacing: Theme.step * 2

                UiText {
                    text: qsTr("Preset")
                    font.weight: Font.DemiBold
                }
                TextButton {
                    id: presetButton

                    objectName: "chatPreset"
                    Layout.maximumWidth: popup.availableWidth / 2
                    symbol: "chevron-down"
                    text: root.options.presetGone ? qsTr("%1 (deleted)").arg(root.options.presetName) : root.options.presetName
                    LayoutMirroring.enabled: Qt.locale().textDirection === Qt.LeftToRight // the chevron stands after the words
                    onClicked: presetMenu.open()

                    Accessible.name: qsTr("Preset: %1").arg(text)

                    PopupMenu {
                        id: presetMenu

                        objectName: "chatPresetMenu"
                        y: parent.height + Theme.step

                        Instantiator {
                            model: root.options.presets
                            delegate: MenuEntry {
                                required property string presetId
                                required property string name
                                required property bool isDefault

                                objectName: "chatPreset_" + name
                                text: name
                                note: isDefault ? qsTr("New chats start with it") : ""
                                checkable: true
                                checked: presetId === root.options.presetId
                                onTriggered: root.options.choosePreset(presetId)
                            }
                            onObjectAdded: (index, object) => presetMenu.insertItem(index, object as MenuItem)
                            onObjectRemoved: (index, object) => presetMenu.removeItem(object as MenuItem)
                        }
                    }
                }
                Item {
                    Layout.fillWidth: true
                }
                TextButton {
                    objectName: "editPresets"
                    flat: true
                    text: qsTr("Edit presets")
                    onClicked: {
                        popup.close();
                        root.presetsRequested();
                    }
                }
            }
            EngineChoice {
                Layout.fillWidth: true
                options: root.options
            }
            RowLayout {
                Layout.fillWidth: true
                visible: root.options.differs
                spacing: Theme.step * 2

                UiText {
                    objectName: "differsText"
                    Layout.fillWidth: true
                    text: root.options.parameters.chosenCount === 1 ? qsTr("One setting differs from the preset.") : qsTr("%1 settings differ from the preset.").arg(root.options.parameters.chosenCount)
                    color: Theme.accent
                    wrapMode: Text.Wrap
                    elide: Text.ElideNone
                }
                TextButton {
                    objectName: "resetToPreset"
                    text: qsTr("Reset to preset")
                    onClicked: root.options.resetToPreset()
                }
                TextButton {
                    objectName: "saveAsPreset"
                    text: qsTr("Save as preset")
                    onClicked: root.options.saveAsPreset()
                }
            }
            UiText {
                Layout.fillWidth: true
                visible: text !== ""
                text: root.options.notice
                color: Theme.warn
                font.pixelSize: Theme.smallSize
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
            FollowingFlickable {
                objectName: "chatOptionsFlickable"
                Layout.fillWidth: true
                Layout.fillHeight: true

                ParameterList {
                    Layout.fillWidth: true
                    parameters: root.options.parameters
                }
            }
        }
    }
}
