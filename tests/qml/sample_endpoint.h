// SPDX-License-Identifier: MIT
//
// An endpoint as it looks after a while, for pictures and tests of its page: a key, an origin,
// requests of every kind. Nothing listens.
#pragma once

#include "app/endpoint/endpoint_controller.h"

#include <QString>

namespace firesteel::test {

// Returns the words on the page that are no text of the program.
QString fillEndpoint(app::EndpointController &endpoint);

} // namespace firesteel::test
