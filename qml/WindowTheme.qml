// SPDX-License-Identifier: MIT
//
// Carries the settings of the looks into Theme.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App as App

Item {
    id: root

    required property App.AppSettings settings
    required property bool dark

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
