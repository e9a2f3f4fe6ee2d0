// SPDX-License-Identifier: MIT
#include "app/endpoint/endpoint_options.h"

#include "app/settings/app_settings.h"

#include <QSysInfo>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

ApiServerOptions serverOptions(const EndpointSettings &settings)
{
    ApiServerOptions options;
    options.address = settings.address.toStdString();
    options.port = settings.port;
    options.requiresKey = settings.requiresKey;
    options.isModelStrict = settings.isModelStrict;
    options.mirrorsReasoning = settings.mirrorsReasoning;
    for (const QString &origin : settings.origins) {
        if (auto normal = normalOrigin(origin.toStdString()))
            options.access.origins.push_back(std::move(*normal));
    }
    for (const QString &host : settings.hosts)
        options.access.hosts.push_back(host.toLower().toStdString());
    if (!isLoopbackAddress(options.address)) {
        const std::string name = QSysInfo::machineHostName().toLower().toStdString();
        if (!name.empty()) {
            options.access.hosts.push_back(name);
            options.access.hosts.push_back(name + ".local");
        }
    }
    return options;
}

std::filesystem::path endpointKeyFile(const AppSettings &settings)
{
    return std::filesystem::path(settings.folder().toStdString()) / "api-keys.json";
}

QString endpointUrl(const QString &address, int port)
{
    const bool isIpv6 = address.contains(u':');
    return u"http://%1:%2/v1"_s.arg(isIpv6 ? u'[' + address + u']' : address).arg(port);
}

} // namespace firesteel::app
