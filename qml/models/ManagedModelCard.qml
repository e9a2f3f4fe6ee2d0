// SPDX-License-Identifier: MIT
//
// A card whose buttons do what they say, after asking where that is due.
import QtQuick
import Firesteel.App as App
import Firesteel.Ui

ModelCard {
    required property App.ModelsController models
    required property ModelDialogs dialogs

    onReviewRequested: models.review(index)
    onPauseRequested: models.pause(index)
    onResumeRequested: models.resume(index)
    onUseRequested: models.use(index)
    onCancelRequested: dialogs.cancel(index, name)
    onRemoveRequested: {
        if (added)
            models.remove(index);
        else
            dialogs.remove(index, name);
    }
    onWithdrawRequested: dialogs.withdraw(index, name)
    onActionChosen: action => dialogs.act(index, action)
}
