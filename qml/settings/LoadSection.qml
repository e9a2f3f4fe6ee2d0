// SPDX-License-Identifier: MIT
//
// What is decided when the model is loaded: context, memory reserve, threads; with what that takes of memory.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property LoadSettings load
    required property EngineController engine

    spacing: Theme.step * 5
    Component.onCompleted: load.refresh()

    SectionTitle {
        Layout.fillWidth: true
        title: qsTr("Loading the model")
        detail: qsTr("These take effect when the model is loaded again. Your chats stay as they are.")
    }

    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Context length")
        hint: qsTr("How many tokens the model sees at once. A longer context needs more memory. Now: %1.").arg(root.engine.contextTokens.toLocaleString(Qt.locale(), "f", 0))

        ChoiceRow {
            objectName: "contextChoice"
            name: qsTr("Context length")
            choices: [qsTr("As long as fits"), qsTr("Fixed")]
            current: root.load.contextTokens === 0 ? 0 : 1
            onPicked: choice => root.load.contextTokens = choice === 0 ? 0 : (root.load.estimatedContext || root.load.longestContext)
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.step * 3

        SliderBar {
            objectName: "contextSlider"
            Layout.fillWidth: true
            Layout.minimumWidth: 80
            name: qsTr("Context length")
            // Each step to the right is a twelfth of a doubling.
            from: 8
            to: Math.log2(Math.max(512, root.load.longestContext))
            stepSize: 1 / 12
            value: Math.log2(Math.max(256, root.load.contextTokens || root.load.estimatedContext))
            onMoved: root.load.contextTokens = value >= to - stepSize / 2 ? root.load.longestContext : Math.round(Math.pow(2, value) / 64) * 64
        }
        ValueField {
            objectName: "contextField"
            name: qsTr("Context length in tokens")
            live: true
            value: String(root.load.contextTokens || root.load.estimatedContext)
            onEntered: text => root.load.setContextText(text)
            onStepped: by => root.load.contextTokens = (root.load.contextTokens || root.load.estimatedContext) + by * 64
        }
        UiText {
            text: qsTr("tokens")
            color: Theme.dim
        }
    }

    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Answers at once")
        hint: qsTr("Chats and programs that are answered at the same time; the others wait. Each needs memory for a whole context. 0 is as many as fit, up to 4. These settings give %1.").arg(root.load.estimatedSequences)

        ValueField {
            objectName: "sequencesField"
            name: qsTr("Answers at once")
            live: true
            value: String(root.load.sequences)
            onEntered: text => root.load.setSequencesText(text)
            onStepped: by => root.load.sequences += by
        }
    }

    SettingRow {
        Layout.fillWidth: true
        label: qsTr("Memory reserve")
        hint: qsTr("Stays free for the desktop and other programs. Running out of memory can stop the whole computer.")

        ValueField {
            objectName: "reserveField"
            name: qsTr("Memory reserve in GiB")
            live: true
            value: root.load.reserveGibibytes.toLocaleString(Qt.locale(), "g", 6)
            onEntered: text => root.load.setReserveText(text)
            onStepped: by => root.load.reserveGibibytes += by * 0.5
        }
        UiText {
            text: qsTr("GiB")
            color: Theme.dim
        }
    }

    SettingRow {
        Layout.fillWidth: true
        label: qsTr("CPU threads")
        hint: qsTr("For models that run on the CPU. 0 is one for each core. Now: %1.").arg(root.engine.backendText || qsTr("no model"))

        ValueField {
            objectName: "threadsField"
            name: qsTr("CPU threads")
            value: String(root.load.threads)
            onEntered: text => root.load.setThreadsText(text)
            onStepped: by => root.load.threads += by
        }
    }

    ColumnLayout {
        Layout.fillWidth: true
        visible: root.load.needText !== ""
        spacing: Theme.step

        LoadMemoryBar {
            Layout.fillWidth: true
            Layout.bottomMargin: Theme.step
            weights: root.load.weightShare
            context: root.load.stateShare
            reserve: root.load.reserveShare
            fits: root.load.refusal === ""
        }
        UiText {
            objectName: "needText"
            Layout.fillWidth: true
            text: qsTr("%1 tokens: %2.").arg(root.load.estimatedContext.toLocaleString(Qt.locale(), "f", 0)).arg(root.load.needText)
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
        UiText {
            Layout.fillWidth: true
            text: qsTr("%1.").arg(root.load.freeText)
            color: Theme.dim
            font.pixelSize: Theme.smallSize
            wrapMode: Text.Wrap
            elide: Text.ElideNone
        }
    }
    UiText {
        objectName: "loadRefusal"
        Layout.fillWidth: true
        visible: text !== ""
        text: root.load.refusal
        color: Theme.bad
        wrapMode: Text.Wrap
        elide: Text.ElideNone

        Accessible.role: Accessible.AlertMessage
        Accessible.name: text
    }

    Flow {
        Layout.fillWidth: true
        visible: root.load.changed || root.load.waiting || root.engine.drafterWaiting
        spacing: Theme.step * 2

        TextButton {
            objectName: "reloadNow"
            primary: true
            enabled: root.load.canApply
            text: qsTr("Reload now")
            onClicked: root.load.applyNow()
        }
        TextButton {
            objectName: "applyLater"
            visible: root.load.changed
            enabled: root.load.canApply
            text: qsTr("At the next start")
            onClicked: root.load.applyAtNextStart()
        }
        TextButton {
            objectName: "discardLoad"
            visible: root.load.changed
            flat: true
            text: qsTr("Undo the changes")
            onClicked: root.load.discard()
        }
    }
    UiText {
        Layout.fillWidth: true
        visible: text !== ""
        text: {
            if (root.load.waiting && !root.load.changed)
                return qsTr("Kept for the next start. The model still runs with what it was loaded with.");
            if (root.load.changed && root.engine.runningRequests > 0)
                return qsTr("An answer is being written; reloading ends it.");
            return root.engine.drafterWaiting ? qsTr("The drafter came after the model was loaded. It helps from the next load on.") : "";
        }
        color: Theme.dim
        font.pixelSize: Theme.smallSize
        wrapMode: Text.Wrap
        elide: Text.ElideNone
    }
}
