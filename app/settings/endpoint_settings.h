// SPDX-License-Identifier: MIT
//
// What a person chose about the local endpoint. Read and written by AppSettings; the same for the
// window and for a run without one.
#pragma once

#include <QString>
#include <QStringList>

namespace firesteel::app {

struct EndpointSettings
{
    static constexpr int kDefaultPort = 8686;

    bool isEnabled = false; // in the window
    QString address = QStringLiteral("127.0.0.1");
    int port = kDefaultPort; // 1 to 65535
    bool requiresKey = false; // on this machine too
    QStringList origins; // of web pages that may use it
    QStringList hosts; // names by which it may be called, beside addresses
    bool isModelStrict = false;
    bool mirrorsReasoning = false;

    bool operator==(const EndpointSettings &) const = default;
};

} // namespace firesteel::app
