// SPDX-License-Identifier: MIT
//
// The Hugging Face hub's HTTP interface as pure functions: addresses, answers, headers and errors.
// HubClient and the downloads use it; nothing here opens a connection. Source: huggingface_hub's
// client and the hub's documentation.
#pragma once

#include "app/models/content_hash.h"
#include "app/models/model_problem.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>
#include <QUrl>

#include <functional>
#include <optional>
#include <vector>

namespace firesteel::app {

struct HubFile
{
    QString path; // relative, '/' between folders, checked by isSafePath
    qint64 size = 0;
    ContentHash::Kind kind = ContentHash::Kind::Sha256;
    QByteArray digest; // hexadecimal
};

struct HubRevision
{
    enum class Gate { Open, Automatic, Manual };
    QString sha;
    QString license; // the card's `license:`, empty when it states none
    Gate gate = Gate::Open;
};

struct HubRange
{
    qint64 begin = 0;
    qint64 end = 0; // exclusive
};

struct HubTreePage
{
    std::vector<HubFile> files;
    QUrl next; // empty: the last page
};

// Addresses below `endpoint`, which has no slash at its end.
QUrl hubRevisionUrl(const QUrl &endpoint, const QString &repository, const QString &revision);
QUrl hubTreeUrl(const QUrl &endpoint, const QString &repository, const QString &revision);
QUrl hubFileUrl(const QUrl &endpoint, const QString &repository, const QString &revision,
                const QString &path);
QUrl hubPageUrl(const QUrl &endpoint, const QString &repository);

// BadAnswer names what is missing or not allowed. `link` is the Link header. A next page on
// another origin is refused: it would be asked with the same rights.
ModelResult<HubRevision> parseHubRevision(const QByteArray &body);
ModelResult<HubTreePage> parseHubTree(const QByteArray &body, const QByteArray &link,
                                      const QUrl &url);

// Inside its folder: relative, no "..", no backslash, nothing empty or hidden from a person.
bool isSafePath(const QString &path);

// Scheme, host and port: whoever differs in one of them is somebody else.
bool isSameOrigin(const QUrl &one, const QUrl &other);

struct ContentRange
{
    qint64 first = 0;
    qint64 last = 0; // inclusive
    qint64 total = 0;
};
std::optional<ContentRange> parseContentRange(QByteArrayView header);

using HeaderReader = std::function<QByteArray(const char *name)>;

// What `RateLimit: "api";r=0;t=55` or `Retry-After` (seconds or a date) ask for, at most an hour.
std::chrono::seconds retryDelay(const HeaderReader &header, const QDateTime &now);

// A status that is neither success nor redirect.
ModelProblem hubProblem(int status, const HeaderReader &header, bool hadToken,
                        const QDateTime &now);

} // namespace firesteel::app
