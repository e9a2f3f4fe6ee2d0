// SPDX-License-Identifier: MIT
//
// A drafter came while a model was loaded that could use it: offers to load the model again.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App
import Firesteel.Ui

NoticeCard {
    id: root

    required property EngineController engine

    objectName: "drafterOffer"
    quiet: true
    title: qsTr("The drafter is ready")
    detail: qsTr("%1 uses it once it is loaded again. Your chats stay as they are.").arg(engine.modelName) + (engine.runningRequests > 0 ? " " + qsTr("An answer is being written; reloading ends it.") : "")
    action: qsTr("Reload now")
    onTriggered: engine.reload()
    onDeclined: engine.putOffDrafter()
}
