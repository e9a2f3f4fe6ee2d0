// SPDX-License-Identifier: MIT
//
// Models in every state a person meets, without a hub: for tests of the page and for its pictures.
#pragma once

#include "app/models/models_controller.h"

#include <QStringList>

namespace firesteel::test {

// A state for each model of the catalogue in order ("available", "downloading", "waiting",
// "paused", "gated", "full", "ready"); "added" and "other" are folders of a person's own.
void showModels(app::ModelsController &models, const QStringList &states);

// The terms of a row, as if the hub had answered; review(row) was called.
void answerTerms(app::ModelsController &models, int row, bool isAsExpected = true);

} // namespace firesteel::test
