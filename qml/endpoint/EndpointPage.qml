// SPDX-License-Identifier: MIT
//
// The endpoint for other programs: on or off, where, for whom, and what it was asked.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property EndpointController endpoint

    signal closed

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Endpoint")

    FollowingFlickable {
        id: flick

        objectName: "endpointFlickable"
        anchors.fill: parent
        side: Math.max(Theme.step * 4, (root.width - Theme.columnWidth) / 2)
        spacing: Theme.step * 5

        RowLayout {
            Layout.fillWidth: true
            Layout.topMargin: Theme.step * 4
            spacing: Theme.step * 2

            UiText {
                Layout.fillWidth: true
                text: qsTr("Other programs can use the loaded model here, in the formats of OpenAI's and Anthropic's APIs.")
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
            TextButton {
                objectName: "endpointBack"
                focus: true // where Tab goes on from
                Layout.alignment: Qt.AlignTop
                flat: true
                text: qsTr("Back to the chat")
                onClicked: root.closed()
            }
        }
        NoticeCard {
            objectName: "endpointError"
            Layout.fillWidth: true
            visible: root.endpoint.errorText !== ""
            title: qsTr("The endpoint is not reachable")
            detail: root.endpoint.errorText
        }
        SettingRow {
            Layout.fillWidth: true
            label: qsTr("Serve other programs")
            hint: root.endpoint.running ? qsTr("Running. Base URL: %1").arg(root.endpoint.url) : root.endpoint.enabled ? qsTr("Not running.") : qsTr("Off. Nothing listens.")

            CopyButton {
                objectName: "endpointCopyUrl"
                visible: root.endpoint.running
                hint: qsTr("Copy the base URL")
                onCopied: root.endpoint.copyUrl()
            }
            Toggle {
                objectName: "endpointEnabled"
                name: qsTr("Serve other programs")
                checked: root.endpoint.enabled
                onToggled: root.endpoint.enabled = checked
            }
        }
        SettingRow {
            Layout.fillWidth: true
            label: qsTr("Address")
            hint: qsTr("127.0.0.1 is this computer alone; 0.0.0.0 is every network it is in.")
            note: root.endpoint.exposed ? qsTr("Other computers can reach it, and what is sent is not encrypted: anyone on the way can read it. A key is needed.") : ""

            ValueField {
                objectName: "endpointAddress"
                Layout.preferredWidth: Math.round(160 * Math.max(1, Theme.fontScale))
                name: qsTr("Address to listen on")
                value: root.endpoint.address
                onEntered: text => root.endpoint.setAddressText(text)
            }
        }
        SettingRow {
            Layout.fillWidth: true
            label: qsTr("Port")

            ValueField {
                objectName: "endpointPort"
                name: qsTr("Port")
                value: String(root.endpoint.port)
                onEntered: text => root.endpoint.setPortText(text)
                onStepped: by => root.endpoint.setPortText(String(root.endpoint.port + by))
            }
        }
        SettingRow {
            Layout.fillWidth: true
            label: qsTr("Ask for a key on this computer too")
            hint: qsTr("Otherwise every program of every person who is logged in here may use it.")

            Toggle {
                objectName: "endpointRequiresKey"
                name: qsTr("Ask for a key on this computer too")
                checked: root.endpoint.requiresKey || root.endpoint.exposed
                enabled: !root.endpoint.exposed
                onToggled: root.endpoint.requiresKey = checked
            }
        }
        EndpointKeys {
            Layout.fillWidth: true
            endpoint: root.endpoint
        }
        EndpointOrigins {
            Layout.fillWidth: true
            endpoint: root.endpoint
        }
        EndpointLog {
            Layout.fillWidth: true
            Layout.bottomMargin: Theme.step * 8
            log: root.endpoint.log
        }
    }
}
