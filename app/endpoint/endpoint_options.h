// SPDX-License-Identifier: MIT
//
// From a person's settings to what the server is made with; for the window and for a run without
// one.
#pragma once

#include "app/api/api_server.h"
#include "app/settings/endpoint_settings.h"

#include <QString>

#include <filesystem>

namespace firesteel::app {

class AppSettings;

// Names of this machine are allowed where it is reached from others.
ApiServerOptions serverOptions(const EndpointSettings &settings);

// Where the keys are: beside the settings.
std::filesystem::path endpointKeyFile(const AppSettings &settings);

QString endpointUrl(const QString &address, int port);

} // namespace firesteel::app
