// SPDX-License-Identifier: MIT
//
// In the window's header while the endpoint is switched on: whether other programs reach it, and the way to its page.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

TextButton {
    id: root

    required property EndpointController endpoint
    property bool modelReady: true

    readonly property string runningText: endpoint.log.running.toLocaleString(Qt.locale(), "f", 0)
    readonly property string stateText: {
        if (endpoint.errorText !== "")
            return qsTr("The endpoint is not reachable: %1").arg(endpoint.errorText);
        if (!endpoint.running)
            return qsTr("The endpoint starts.");
        if (!modelReady)
            return qsTr("The endpoint listens at %1. No model is loaded to answer with.").arg(endpoint.url);
        return qsTr("Other programs find the model at %1. Running requests: %2").arg(endpoint.url).arg(runningText);
    }

    objectName: "endpointSign"
    visible: endpoint.enabled
    flat: true
    leftPadding: Theme.step * 2
    rightPadding: Theme.step * 2
    text: qsTr("API")

    contentItem: Row {
        spacing: Theme.step * 2

        UiText {
            anchors.verticalCenter: parent.verticalCenter
            text: root.text
            color: Theme.dim
        }
        Rectangle {
            objectName: "endpointDot"
            anchors.verticalCenter: parent.verticalCenter
            width: Theme.step * 2
            height: width
            radius: width / 2
            color: root.endpoint.errorText !== "" ? Theme.bad : !root.endpoint.running || !root.modelReady ? Theme.warn : Theme.good
        }
        UiText {
            objectName: "endpointRunning"
            anchors.verticalCenter: parent.verticalCenter
            visible: root.endpoint.log.running > 0
            text: root.runningText
            color: Theme.dim
        }
    }

    Tip {
        text: root.stateText
        visible: root.hovered || root.visualFocus
    }

    Accessible.name: qsTr("Endpoint")
    Accessible.description: stateText
}
