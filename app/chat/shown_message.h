// SPDX-License-Identifier: MIT
//
// One message of the view: its source, where its rows are and where it stands in the conversation's
// tree.
#pragma once

#include "app/store/record_id.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

// Where a message stands in the tree of its conversation.
struct MessagePlace
{
    RecordId id = 0; // in the store
    std::optional<RecordId> parent;
    std::vector<RecordId> alternatives = {}; // in the order made, this one among them; or empty
};

struct ShownMessage : MessagePlace
{
    bool isFromUser = false;
    std::string text; // UTF-8, as typed or generated
    std::string thinking; // UTF-8
    std::optional<std::vector<std::int32_t>> tokens; // of a reply, as its model wrote them
    std::string vocabulary; // that they belong to
    int firstRow = 0;
    int rows = 0;
    int thinkingTokens = 0;
    double thinkingSeconds = 0.0;
    bool isThinkingExpanded = false;
};

} // namespace firesteel::app
