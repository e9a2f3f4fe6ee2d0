// SPDX-License-Identifier: MIT
//
// What this program is: version, folders, what to send with a problem, what others wrote and under which licence.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Controls.Basic
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

FocusScope {
    id: root

    required property About about
    required property PerformanceMonitor monitor
    property string report: about.problemReport()

    signal closed

    Component.onCompleted: monitor.setWatched(root, true)

    // One look at the machine is enough.
    Connections {
        function onSampled() {
            root.report = root.about.problemReport();
            root.monitor.setWatched(root, false);
        }

        target: root.monitor
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("About Firesteel")

    ListView {
        id: list

        objectName: "licenseList"
        readonly property real column: width - leftMargin - rightMargin

        anchors.fill: parent
        focus: true
        currentIndex: -1 // the keyboard is for the controls of the rows
        leftMargin: Math.max(Theme.step * 4, (width - Theme.columnWidth) / 2)
        rightMargin: leftMargin
        onLeftMarginChanged: contentX = -leftMargin
        clip: true
        model: root.about.thirdParties
        boundsBehavior: Flickable.StopAtBounds
        keyNavigationEnabled: false
        cacheBuffer: 4000
        ScrollBar.vertical: ThinScrollBar {}

        header: ColumnLayout {
            width: list.column
            spacing: Theme.step * 3
            // It grows as its lines wrap.
            onHeightChanged: Qt.callLater(list.positionViewAtBeginning)

            RowLayout {
                Layout.fillWidth: true
                Layout.topMargin: Theme.step * 4
                spacing: Theme.step * 4

                Image {
                    source: "qrc:/firesteel/icons/hicolor/scalable/apps/org.firesteel.Firesteel.svg"
                    sourceSize: Qt.size(48, 48)
                }
                ColumnLayout {
                    Layout.fillWidth: true
                    spacing: 0

                    UiText {
                        Layout.fillWidth: true
                        text: qsTr("Firesteel %1").arg(root.about.version)
                        font.pixelSize: Theme.titleSize
                        font.weight: Font.DemiBold

                        Accessible.role: Accessible.Heading
                        Accessible.name: text
                    }
                    UiText {
                        Layout.fillWidth: true
                        text: qsTr("A language model on your own computer. Licence: MIT.")
                        color: Theme.dim
                        wrapMode: Text.Wrap
                    }
                }
                TextButton {
                    objectName: "aboutBack"
                    focus: true // where Tab goes on from
                    Layout.alignment: Qt.AlignTop
                    flat: true
                    text: qsTr("Back to the chat")
                    onClicked: root.closed()
                }
            }
            FolderRow {
                name: qsTr("Chats and models")
                folder: root.about.dataFolder
                onOpened: root.about.openData()
            }
            FolderRow {
                name: qsTr("Logs")
                folder: root.about.logsFolder
                onOpened: root.about.openLogs()
            }
            AboutHeading {
                text: qsTr("Report a problem")
            }
            UiText {
                Layout.fillWidth: true
                text: qsTr("Say what you did, what you expected and what happened, and add the lines below. They hold nothing that you wrote. Nothing is sent by itself.")
                color: Theme.dim
                wrapMode: Text.Wrap
                elide: Text.ElideNone
            }
            ReportBox {
                report: root.report
                onCopied: root.about.copyProblemReport()
            }
            AboutHeading {
                Layout.bottomMargin: Theme.step
                text: qsTr("What others wrote")
            }
        }

        delegate: LicenseRow {
            required property thirdParty modelData
            required property int index

            width: list.column
            name: modelData.name
            use: modelData.use
            license: modelData.license
            onOpened: licenseDialog.show(modelData.name, root.about.licenseText(index))
        }

        footer: Item {
            height: Theme.step * 8
        }
    }

    LicenseTextDialog {
        id: licenseDialog

        objectName: "licenseText"
    }
}
