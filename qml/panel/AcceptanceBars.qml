// SPDX-License-Identifier: MIT
//
// How many of the guesses at each position of a draft were right, as bars, over the last minute of drafting.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property DraftMetrics drafting

    readonly property list<real> shares: drafting.acceptance

    function percent(share: real): string {
        return Math.round(share * 100).toLocaleString(Qt.locale(), "f", 0);
    }

    spacing: Theme.step

    UiText {
        objectName: "draftingText"
        Layout.fillWidth: true
        text: root.drafting.known ? qsTr("%1 guesses accepted per step. Of those at each place, so many per cent were right:").arg(root.drafting.acceptedPerStep.toLocaleString(Qt.locale(), "f", 2)) : qsTr("Nothing was guessed yet. While a drafter runs, its figures are here.")
        color: Theme.dim
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
    RowLayout {
        objectName: "acceptanceBars"
        Layout.fillWidth: true
        Layout.bottomMargin: Theme.step
        visible: root.shares.length > 0
        spacing: Theme.step

        Accessible.role: Accessible.Chart
        Accessible.name: qsTr("Guesses that were right, by place: %1").arg(root.shares.map(share => qsTr("%1 %").arg(root.percent(share))).join(", "))

        Repeater {
            model: root.shares.length

            ColumnLayout {
                id: place

                required property int index
                readonly property real share: root.shares[index] ?? 0

                Layout.fillWidth: true
                spacing: 2

                UiText {
                    Layout.fillWidth: true
                    text: root.percent(place.share)
                    font.pixelSize: Theme.smallSize
                    horizontalAlignment: Text.AlignHCenter
                    elide: Text.ElideNone
                }
                Item {
                    Layout.fillWidth: true
                    implicitHeight: Theme.step * 10

                    Rectangle {
                        objectName: "acceptanceBar"
                        anchors.bottom: parent.bottom
                        width: parent.width
                        height: Math.max(1, Math.round(parent.height * place.share))
                        radius: 2
                        color: Theme.accent
                    }
                }
                UiText {
                    Layout.fillWidth: true
                    text: place.index + 1
                    color: Theme.dim
                    font.pixelSize: Theme.smallSize
                    horizontalAlignment: Text.AlignHCenter
                }
            }
        }
    }
}
