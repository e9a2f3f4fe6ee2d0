// SPDX-License-Identifier: MIT
//
// The models of the catalogue with all that their cards offer, under a few words.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Layouts
import Firesteel.App
import Firesteel.Ui

ColumnLayout {
    id: root

    required property ModelsController models
    required property string heading
    required property string words

    spacing: Theme.step * 4

    StepHeading {
        Layout.fillWidth: true
        heading: root.heading
        words: root.words
    }
    Repeater {
        model: root.models.list

        ManagedModelCard {
            Layout.fillWidth: true
            visible: !added
            models: root.models
            dialogs: dialogs
        }
    }
    TokenRow {
        id: token

        property bool asked: false

        Layout.fillWidth: true
        visible: asked
        words: root.models.tokenText
        known: root.models.hasToken
        own: root.models.ownsToken
        onTokenGiven: text => root.models.setToken(text)
    }

    ModelDialogs {
        id: dialogs

        models: root.models
        onTokenAsked: {
            token.asked = true;
            token.edit();
        }
    }
}
