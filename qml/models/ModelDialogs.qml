// SPDX-License-Identifier: MIT
//
// What a list of models asks before it acts: the licence, and whether something may be destroyed. Shared by the page of
// models and the first run.
pragma ComponentBehavior: Bound

import QtQuick
import Firesteel.App as App
import Firesteel.Ui

Item {
    id: root

    required property App.ModelsController models

    signal tokenAsked

    function act(row: int, action: string) {
        if (action === "token")
            tokenAsked();
        else if (action === "page")
            Qt.openUrlExternally(models.pageOf(row));
        else if (action === "license")
            models.review(row);
        else
            models.resume(row);
    }

    function cancel(row: int, name: string) {
        confirmation.ask("cancel", row, qsTr("Cancel the download of %1?").arg(name), qsTr("What has arrived is deleted. To go on later, pause it instead."), qsTr("Cancel the download"));
    }

    function remove(row: int, name: string) {
        confirmation.ask("remove", row, qsTr("Delete %1?").arg(name), qsTr("Its files are deleted from this computer. It can be downloaded again."), qsTr("Delete"));
    }

    function withdraw(row: int, name: string) {
        confirmation.ask("withdraw", row, qsTr("Withdraw your consent for %1?").arg(name), qsTr("The model and everything that was converted from it are deleted from this computer. A folder that you added yourself is forgotten, not deleted. If a model uses it now, that model is loaded again without it, which ends an answer that is being written; your chats stay as they are."), qsTr("Withdraw and delete"));
    }

    LicenseDialog {
        objectName: "licenseDialog"
        prompt: root.models.prompt
        onAgreed: root.models.accept()
        onDeclined: root.models.decline()
        onRetried: root.models.retryReview()
    }

    ConfirmDialog {
        id: confirmation

        objectName: "confirmDialog"
        onConfirmed: (topic, row) => {
            if (topic === "cancel")
                root.models.cancel(row);
            else if (topic === "remove")
                root.models.remove(row);
            else
                root.models.withdraw(row);
        }
    }
}
