// SPDX-License-Identifier: MIT
//
// Carries the settings of the looks into Theme, and changes the size of its text.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App as App

Item {
    id: root

    required property App.AppSettings settings
    readonly property bool dark: settings.appearance === App.AppSettings.System ? Application.styleHints.colorScheme === Qt.Dark : settings.appearance === App.AppSettings.Dark

    function scaleText(by: real) {
        settings.fontScale = by === 0 ? 1 : settings.fontScale + by;
    }

    Binding {
        target: Theme
        property: "dark"
        value: root.dark
    }
    Binding {
        target: Theme
        property: "fontScale"
        value: root.settings.fontScale
    }
    Binding {
        target: Theme
        property: "reducedMotion"
        value: root.settings.reducedMotion
    }
}
