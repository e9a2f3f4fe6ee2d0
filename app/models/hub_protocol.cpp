// SPDX-License-Identifier: MIT
#include "app/models/hub_protocol.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSet>
#include <QUrlQuery>

#include <algorithm>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr qint64 kLongestPause = 3600; // seconds

QUrl below(const QUrl &endpoint, const QString &encodedPath)
{
    QUrl url = endpoint;
    url.setPath(endpoint.path() + encodedPath, QUrl::StrictMode);
    return url;
}

// Each segment on its own, so that a '/' in a revision does not become one of the path.
QString encoded(const QString &segment)
{
    return QString::fromLatin1(QUrl::toPercentEncoding(segment));
}

QString encodedPath(const QString &path)
{
    QStringList segments = path.split(u'/');
    for (QString &segment : segments)
        segment = encoded(segment);
    return segments.join(u'/');
}

bool isDigest(const QString &text, qsizetype length)
{
    static const QRegularExpression hexadecimal(u"^[0-9a-f]+$"_s);
    return text.size() == length && hexadecimal.match(text).hasMatch();
}

std::optional<HubFile> readFile(const QJsonObject &entry)
{
    HubFile file;
    file.path = entry.value("path"_L1).toString();
    const QJsonObject lfs = entry.value("lfs"_L1).toObject();
    if (!lfs.isEmpty()) {
        const QString oid = lfs.value("oid"_L1).toString().remove(u"sha256:"_s);
        if (!isDigest(oid, 64))
            return std::nullopt;
        file.kind = ContentHash::Kind::Sha256;
        file.digest = oid.toLatin1();
        file.size = lfs.value("size"_L1).toInteger(-1);
    } else {
        const QString oid = entry.value("oid"_L1).toString();
        if (!isDigest(oid, 40))
            return std::nullopt;
        file.kind = ContentHash::Kind::GitBlob;
        file.digest = oid.toLatin1();
        file.size = entry.value("size"_L1).toInteger(-1);
    }
    if (file.size < 0 || !isSafePath(file.path))
        return std::nullopt;
    return file;
}

QUrl nextPage(const QByteArray &link, const QUrl &url)
{
    static const QRegularExpression next(u"<([^>]*)>\\s*;\\s*rel=\"?next\"?"_s);
    const auto match = next.match(QString::fromLatin1(link));
    return match.hasMatch() ? url.resolved(QUrl(match.captured(1), QUrl::StrictMode)) : QUrl();
}

Kind gatedKind(int status, const QString &message, bool hadToken)
{
    if (!hadToken)
        return Kind::TokenNeeded;
    if (message.contains("fine-grained"_L1, Qt::CaseInsensitive))
        return Kind::TokenLacksScope;
    if (message.contains("awaiting"_L1, Qt::CaseInsensitive)
        || message.contains("pending"_L1, Qt::CaseInsensitive))
        return Kind::ApprovalPending;
    if (message.contains("rejected"_L1, Qt::CaseInsensitive))
        return Kind::ApprovalRefused;
    return status == 401 ? Kind::TokenInvalid : Kind::TermsNotAccepted;
}

Kind kindOf(int status, const QByteArray &code, const QString &message, bool hadToken)
{
    if (status == 408 || status == 425)
        return Kind::ServerBusy;
    if (status == 429)
        return Kind::RateLimited;
    if (status >= 500)
        return Kind::ServerBusy;
    if (message.contains("resource is disabled"_L1, Qt::CaseInsensitive))
        return Kind::TakenDown;
    if (code == "GatedRepo")
        return gatedKind(status, message, hadToken);
    if (code == "RevisionNotFound")
        return Kind::RevisionNotFound;
    if (code == "EntryNotFound")
        return Kind::FileNotFound;
    // Without a token the hub answers 401 for what does not exist, so as not to tell.
    if (code == "RepoNotFound")
        return status == 401 && hadToken ? Kind::TokenInvalid : Kind::RepositoryNotFound;
    if (status == 401)
        return hadToken ? Kind::TokenInvalid : Kind::TokenNeeded;
    if (status == 404)
        return Kind::FileNotFound;
    if (status == 403)
        return message.contains("fine-grained"_L1, Qt::CaseInsensitive) ? Kind::TokenLacksScope
                                                                        : Kind::Refused;
    return Kind::Refused;
}

} // namespace

QUrl hubRevisionUrl(const QUrl &endpoint, const QString &repository, const QString &revision)
{
    return below(endpoint,
                 u"/api/models/%1/revision/%2"_s.arg(encodedPath(repository), encoded(revision)));
}

QUrl hubTreeUrl(const QUrl &endpoint, const QString &repository, const QString &revision)
{
    QUrl url = below(endpoint,
                     u"/api/models/%1/tree/%2"_s.arg(encodedPath(repository), encoded(revision)));
    url.setQuery(u"recursive=1&expand=0"_s);
    return url;
}

QUrl hubFileUrl(const QUrl &endpoint, const QString &repository, const QString &revision,
                const QString &path)
{
    return below(
        endpoint,
        u"/%1/resolve/%2/%3"_s.arg(encodedPath(repository), encoded(revision), encodedPath(path)));
}

QUrl hubPageUrl(const QUrl &endpoint, const QString &repository)
{
    return below(endpoint, u'/' + encodedPath(repository));
}

ModelResult<HubRevision> parseHubRevision(const QByteArray &body)
{
    const QJsonObject root = QJsonDocument::fromJson(body).object();
    HubRevision revision;
    revision.sha = root.value("sha"_L1).toString();
    if (!isDigest(revision.sha, 40))
        return problem(Kind::BadAnswer, u"sha: 40 hexadecimal digits are expected"_s);
    revision.license = root.value("cardData"_L1).toObject().value("license"_L1).toString();
    const QJsonValue gated = root.value("gated"_L1);
    if (gated.toString() == "auto"_L1)
        revision.gate = HubRevision::Gate::Automatic;
    else if (gated.toString() == "manual"_L1)
        revision.gate = HubRevision::Gate::Manual;
    return revision;
}

ModelResult<HubTreePage> parseHubTree(const QByteArray &body, const QByteArray &link,
                                      const QUrl &url)
{
    const QJsonDocument document = QJsonDocument::fromJson(body);
    if (!document.isArray())
        return problem(Kind::BadAnswer, u"the file list: an array is expected"_s);
    HubTreePage page;
    QSet<QString> paths;
    for (const auto &value : document.array()) {
        const QJsonObject entry = value.toObject();
        if (entry.value("type"_L1).toString() == "directory"_L1)
            continue;
        auto file = readFile(entry);
        if (!file || paths.contains(file->path))
            return problem(Kind::BadAnswer,
                           u"the file list: \"%1\" has no usable path, size or digest"_s.arg(
                               entry.value("path"_L1).toString().left(200)));
        paths.insert(file->path);
        page.files.push_back(std::move(*file));
    }
    page.next = nextPage(link, url);
    if (!page.next.isEmpty() && !isSameOrigin(page.next, url))
        return problem(Kind::BadAnswer, u"the file list: goes on at another host"_s);
    return page;
}

bool isSafePath(const QString &path)
{
    if (path.isEmpty() || path.size() > 1024 || path.contains(u'\\') || path.contains(QChar(0)))
        return false;
    return std::ranges::all_of(path.split(u'/'), [](const QString &segment) {
        return !segment.isEmpty() && segment != "."_L1 && segment != ".."_L1;
    });
}

bool isSameOrigin(const QUrl &one, const QUrl &other)
{
    const auto port
        = [](const QUrl &url) { return url.port(url.scheme() == "https"_L1 ? 443 : 80); };
    return one.scheme() == other.scheme() && one.host() == other.host() && port(one) == port(other);
}

std::optional<ContentRange> parseContentRange(QByteArrayView header)
{
    static const QRegularExpression form(u"^bytes (\\d+)-(\\d+)/(\\d+)$"_s);
    const auto match = form.match(QString::fromLatin1(header.trimmed()));
    if (!match.hasMatch())
        return std::nullopt;
    bool fits[3] = {};
    const ContentRange range { match.captured(1).toLongLong(&fits[0]),
                               match.captured(2).toLongLong(&fits[1]),
                               match.captured(3).toLongLong(&fits[2]) };
    if (!fits[0] || !fits[1] || !fits[2] || range.first > range.last || range.last >= range.total)
        return std::nullopt;
    return range;
}

std::chrono::seconds retryDelay(const HeaderReader &header, const QDateTime &now)
{
    static const QRegularExpression wait(u"[;,]\\s*t=(\\d+)"_s);
    qint64 seconds = 0;
    const QByteArray after = header("Retry-After").trimmed();
    bool isNumber = false;
    if (const auto match = wait.match(QString::fromLatin1(header("RateLimit"))); match.hasMatch())
        seconds = match.captured(1).toLongLong() + 1;
    else if (const qint64 asked = after.toLongLong(&isNumber); isNumber)
        seconds = asked;
    else if (const auto date = QDateTime::fromString(
                 QString::fromLatin1(after).replace("GMT"_L1, "+0000"_L1), Qt::RFC2822Date);
             date.isValid())
        seconds = now.secsTo(date);
    return std::chrono::seconds(std::clamp(seconds, qint64(0), kLongestPause));
}

ModelProblem hubProblem(int status, const HeaderReader &header, bool hadToken, const QDateTime &now)
{
    const QString message = QString::fromUtf8(header("X-Error-Message")).left(300);
    ModelProblem result;
    result.kind = kindOf(status, header("X-Error-Code"), message, hadToken);
    result.detail
        = message.isEmpty() ? u"HTTP %1"_s.arg(status) : u"HTTP %1: %2"_s.arg(status).arg(message);
    if (isTransient(result.kind))
        result.retryAfter = retryDelay(header, now);
    return result;
}

} // namespace firesteel::app
