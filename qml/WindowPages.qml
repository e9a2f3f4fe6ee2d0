// SPDX-License-Identifier: MIT
//
// What takes the place of the chat: one page at a time, by name.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App as App
import Firesteel.Ui

Loader {
    id: root

    required property App.Application application
    required property string page // empty: none
    // Of the settings page; kept while it is closed.
    property int settingsSection: 0
    readonly property var pages: ({
            "models": {
                "title": qsTr("Models"),
                "component": modelsComponent
            },
            "settings": {
                "title": qsTr("Settings"),
                "component": settingsComponent
            },
            "benchmark": {
                "title": qsTr("Benchmark"),
                "component": benchmarkComponent
            },
            "endpoint": {
                "title": qsTr("Endpoint"),
                "component": endpointComponent
            },
            "setup": {
                "title": qsTr("Set up Firesteel"),
                "component": setupComponent
            },
            "about": {
                "title": qsTr("About Firesteel"),
                "component": aboutComponent
            }
        })
    readonly property string title: pages[page]?.title ?? ""

    signal closed

    objectName: "windowPages"
    active: page !== ""
    visible: active
    focus: active
    sourceComponent: pages[page]?.component ?? null

    Component {
        id: modelsComponent

        ModelsPage {
            focus: true
            models: root.application.models
            engine: root.application.engine
            onClosed: root.closed()
        }
    }
    Component {
        id: settingsComponent

        SettingsPage {
            focus: true
            application: root.application
            section: root.settingsSection
            onSectionChanged: root.settingsSection = section
            onClosed: root.closed()
        }
    }
    Component {
        id: benchmarkComponent

        BenchmarkPage {
            focus: true
            benchmark: root.application.benchmark
            onClosed: root.closed()
        }
    }
    Component {
        id: endpointComponent

        EndpointPage {
            focus: true
            endpoint: root.application.endpoint
            onClosed: root.closed()
        }
    }
    Component {
        id: aboutComponent

        AboutPage {
            focus: true
            about: root.application.about
            monitor: root.application.monitor
            onClosed: root.closed()
        }
    }
    Component {
        id: setupComponent

        SetupPage {
            focus: true
            setup: root.application.setup
            models: root.application.models
            engine: root.application.engine
            benchmark: root.application.benchmark
            onClosed: root.closed()
        }
    }
}
