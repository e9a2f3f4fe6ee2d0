// SPDX-License-Identifier: MIT
//
// What firesteel-screenshots takes pictures of: states of the window, by name.
#pragma once

#include "app/inference/engine_controller.h"
#include "app/settings/app_settings.h"
#include "app/setup/setup_controller.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace firesteel::test {

struct Scene
{
    QString name = {};
    QSize size { 1280, 800 };
    app::AppSettings::Appearance appearance = app::AppSettings::Appearance::Light;
    QString question = {}; // empty: none
    bool isPanelOpen = false;
    bool isReasoningOpen = false;
    double fontScale = 1;
    int tokensBeforePicture = -1; // of the answer; -1: all
    app::EngineController::State state = app::EngineController::State::Ready;
    QString pressed = {}; // objectName of a button
    QString searched = {}; // in the sidebar, over stored chats
    bool isSecondInstance = false;
    bool hasVersions = false; // of the question and of its answer
    QString focused = {}; // objectName of an item
    bool isEditing = false;
    QStringList models = {}; // the page of models, see sample_models.h
    int reviewed = -1; // row of the model whose licence is shown
    std::optional<app::SetupController::Step> step = {}; // of the first run
    QString machine = QStringLiteral("spark"); // see machine_files.h
    bool isMeasured = false; // by the benchmark, whose page is shown unless there is a step
    int settings = -1; // section of the settings page
    bool isContextTooLong = false; // in the settings of loading
    double scrolled = 0; // of the settings page, in its heights
    QString page = {}; // of the window, or "palette"
    bool isClamped = false; // a GPU in trouble
    bool isReading = false; // a long prompt
    bool isAfterCrash = false;
    QString found = {}; // looked for in the chat
    bool hasPastes = false; // beside the message
    bool isReread = false; // the thinking was changed after the answer
    bool isServing = false; // other programs
    bool hasLateDrafter = false; // that came after the model was loaded
};

std::vector<Scene> scenes();

} // namespace firesteel::test
