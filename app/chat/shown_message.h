// SPDX-License-Identifier: MIT
//
// One message of the view: its source and where its rows are.
#pragma once

#include "app/store/record_id.h"

#include <string>

namespace firesteel::app {

struct ShownMessage
{
    RecordId id = 0; // in the store
    bool isFromUser = false;
    std::string text; // UTF-8, as typed or generated
    std::string thinking; // UTF-8
    int firstRow = 0;
    int rows = 0;
    int thinkingTokens = 0;
    double thinkingSeconds = 0.0;
    bool isThinkingExpanded = false;
};

} // namespace firesteel::app
