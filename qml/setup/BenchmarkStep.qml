// SPDX-License-Identifier: MIT
//
// The last step: how fast it is here.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property BenchmarkController benchmark

    spacing: Theme.step * 4

    StepHeading {
        Layout.fillWidth: true
        heading: qsTr("How fast is it here?")
        words: qsTr("Later you find the benchmark in the menu of tools.")
    }
    BenchmarkCard {
        Layout.fillWidth: true
        benchmark: root.benchmark
    }
}
