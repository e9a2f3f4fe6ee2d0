// SPDX-License-Identifier: MIT
//
// Another machine's engine and how it is spoken to: addresses, the JSON of a request, words for
// what goes wrong. No network here, and no key: keys are RemoteKeys' alone.
#pragma once

#include "app/settings/request_settings.h"
#include "engine/api/error.h"
#include "engine/api/request.h"

#include <QByteArray>
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <QUrl>

#include <optional>
#include <vector>

namespace firesteel::app {

struct RemoteEngine
{
    QString id; // of this list only; never changes
    QString name; // by the person
    QUrl base; // scheme, host, port and path before "/v1"; no slash at its end
    QString model; // one of /v1/models

    bool operator==(const RemoteEngine &) const = default;
};

// What a person typed, with or without scheme and "/v1". Nothing: no http or https address, or one
// with a user, a password, a query or a fragment.
std::optional<QUrl> remoteBase(const QString &typed);

QUrl chatUrl(const QUrl &base); // /v1/chat/completions
QUrl modelsUrl(const QUrl &base); // /v1/models
QUrl metricsUrl(const QUrl &base); // /metrics, at the root of the server

bool isLoopback(const QUrl &base); // localhost, 127.0.0.0/8 or ::1
// A sentence where the text would travel unencrypted to another machine, else empty.
QString unencryptedNotice(const QUrl &base);

// The body of a chat request. What nobody chose is left to the server; thinking is always said.
// Thinking of earlier answers goes along unless the settings forget it. Not sent: the thinking
// budget and how tokens are guessed, which only this program's engine knows.
QJsonObject chatBody(const QString &model, const std::vector<engine::Message> &messages,
                     const RequestSettings &settings);

// The ids in an answer of /v1/models. Error: a sentence.
engine::Result<QStringList> modelIds(const QByteArray &answer);

// What an HTTP status that is no success means, in the words of the server where it has some.
engine::Error statusError(const QUrl &url, int status, const QByteArray &answer);

} // namespace firesteel::app
