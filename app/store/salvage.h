// SPDX-License-Identifier: MIT
//
// Copies what can still be read of a damaged database into a new one. Called by Database.
#pragma once

#include "app/store/store_error.h"

#include <QSqlDatabase>

namespace firesteel::app {

struct Salvaged
{
    int conversations = 0;
    int messages = 0;
};

// `from`: the damaged file, open for reading; `to`: a new file with all its tables, still empty.
// Rows on pages that cannot be read are lost; messages that lost their conversation or the message
// before them are kept.
StoreResult<Salvaged> salvage(const QSqlDatabase &from, const QSqlDatabase &to);

} // namespace firesteel::app
