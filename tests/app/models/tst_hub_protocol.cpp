// SPDX-License-Identifier: MIT
#include "app/models/hub_protocol.h"

#include <QDateTime>
#include <QTest>

#include <map>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

namespace {

const QUrl kHub(u"https://hub.test"_s);
const QString kSha = u"0123456789012345678901234567890123456789"_s;
const QByteArray kSha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

HeaderReader headers(const std::map<QByteArray, QByteArray> &values)
{
    return [values](const char *name) {
        const auto found = values.find(name);
        return found == values.end() ? QByteArray() : found->second;
    };
}

ModelResult<HubTreePage> tree(const QByteArray &entries, const QByteArray &link = {})
{
    return parseHubTree("[" + entries + "]", link, kHub);
}

QByteArray small(const QByteArray &path)
{
    return R"({"type": "file", "oid": "0123456789012345678901234567890123456789", "size": 3, "path": ")"
        + path + "\"}";
}

} // namespace

class HubProtocolTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void encodesAddresses();
    void readsARevision();
    void readsATree();
    void followsPagesOnTheSameHostOnly();
    void refusesPathsThatLeave_data();
    void refusesPathsThatLeave();
    void knowsItsOrigin();
    void readsContentRanges();
    void waitsAsAsked();
    void tellsProblemsApart_data();
    void tellsProblemsApart();
    void everyProblemHasWords();
};

void HubProtocolTest::encodesAddresses()
{
    QCOMPARE(hubFileUrl(kHub, u"o/m"_s, u"refs/pr/1"_s, u"a b/ü#?.bin"_s).toEncoded(),
             "https://hub.test/o/m/resolve/refs%2Fpr%2F1/a%20b/%C3%BC%23%3F.bin");
    QCOMPARE(hubTreeUrl(QUrl(u"http://mirror.test:81/hf"_s), u"o/m"_s, kSha).toEncoded(),
             "http://mirror.test:81/hf/api/models/o/m/tree/" + kSha.toLatin1()
                 + "?recursive=1&expand=0");
    QCOMPARE(hubRevisionUrl(kHub, u"o/m"_s, kSha).toEncoded(),
             "https://hub.test/api/models/o/m/revision/" + kSha.toLatin1());
}

void HubProtocolTest::readsARevision()
{
    const auto revision = parseHubRevision(
        "{\"sha\": \"" + kSha.toLatin1()
        + R"(", "gated": "manual", "cardData": {"license": "cc-by-nc-nd-4.0"}})");
    QVERIFY(revision);
    QCOMPARE(revision->sha, kSha);
    QCOMPARE(revision->license, u"cc-by-nc-nd-4.0"_s);
    QVERIFY(revision->gate == HubRevision::Gate::Manual);
    const auto open = parseHubRevision("{\"sha\": \"" + kSha.toLatin1() + R"(", "gated": false})");
    QVERIFY(open && open->gate == HubRevision::Gate::Open && open->license.isEmpty());
    for (const char *body : { "", "[]", "{}", R"({"sha": "main"})", "<html>" })
        QVERIFY(!parseHubRevision(body));
}

void HubProtocolTest::readsATree()
{
    const auto page
        = tree(R"({"type": "directory", "oid": "", "path": "sub"},)" + small("sub/config.json")
               + R"(, {"type": "file", "oid": "00", "size": 130, "path": "w.safetensors",
                                "lfs": {"oid": ")"
               + kSha256 + R"(", "size": 50000000001, "pointerSize": 130}})");
    QVERIFY(page);
    QCOMPARE(page->files.size(), 2U);
    QCOMPARE(page->files[0].path, u"sub/config.json"_s);
    QVERIFY(page->files[0].kind == ContentHash::Kind::GitBlob);
    QCOMPARE(page->files[1].size, 50'000'000'001);
    QVERIFY(page->files[1].kind == ContentHash::Kind::Sha256);
    QCOMPARE(page->files[1].digest, kSha256);
    QVERIFY(page->next.isEmpty());
    QVERIFY(!tree(small("a") + "," + small("a"))); // twice
    QVERIFY(!tree(R"({"type": "file", "oid": "x", "size": 3, "path": "a"})"));
    QVERIFY(!tree(
        R"({"type": "file", "oid": "0123456789012345678901234567890123456789", "size": -1, "path": "a"})"));
    QVERIFY(!parseHubTree(R"({"error": "x"})", {}, kHub));
}

void HubProtocolTest::followsPagesOnTheSameHostOnly()
{
    const auto next = tree(small("a"), "<https://hub.test/api/x?cursor=a%3D>; rel=\"next\"");
    QVERIFY(next);
    QCOMPARE(next->next.toEncoded(), "https://hub.test/api/x?cursor=a%3D");
    QVERIFY(tree(small("a"), "<https://hub.test/x>; rel=\"prev\"")->next.isEmpty());
    QVERIFY(!tree(small("a"), "<https://other.test/api/x>; rel=\"next\""));
    QVERIFY(!tree(small("a"), "<http://hub.test/api/x>; rel=\"next\""));
}

void HubProtocolTest::refusesPathsThatLeave_data()
{
    QTest::addColumn<QString>("path");
    for (const auto *path : { "", "/etc/passwd", "../a", "a/../../b", "a//b", "a/", ".", "a\\b" })
        QTest::newRow(path) << QString::fromLatin1(path);
}

void HubProtocolTest::refusesPathsThatLeave()
{
    QFETCH(const QString, path);
    QVERIFY(!isSafePath(path));
    QVERIFY(!tree(small(path.toLatin1().replace('\\', "\\\\"))));
    QVERIFY(isSafePath(u"a/b..c/.gitattributes"_s));
}

void HubProtocolTest::knowsItsOrigin()
{
    QVERIFY(isSameOrigin(QUrl(u"https://a.test/x"_s), QUrl(u"https://a.test:443/y"_s)));
    for (const auto *other : { "http://a.test", "https://b.test", "https://a.test:8443",
                               "https://a.test.evil.test", "https://x.a.test" })
        QVERIFY(!isSameOrigin(QUrl(u"https://a.test"_s), QUrl(QString::fromLatin1(other))));
}

void HubProtocolTest::readsContentRanges()
{
    const auto range = parseContentRange("bytes 5-9/10");
    QVERIFY(range);
    QCOMPARE(range->first, 5);
    QCOMPARE(range->last, 9);
    QCOMPARE(range->total, 10);
    for (const char *bad : { "", "bytes */10", "bytes 5-9/*", "bytes 9-5/10", "bytes 5-10/10",
                             "bytes 5-9", "bytes 0-1/99999999999999999999" })
        QVERIFY2(!parseContentRange(bad), bad);
}

void HubProtocolTest::waitsAsAsked()
{
    const QDateTime now(QDate(2026, 11, 30), QTime(12, 0), QTimeZone::UTC);
    QCOMPARE(retryDelay(headers({ { "RateLimit", "\"api\";r=0;t=55" } }), now).count(), 56);
    QCOMPARE(retryDelay(headers({ { "Retry-After", "7" } }), now).count(), 7);
    QCOMPARE(
        retryDelay(headers({ { "Retry-After", "Mon, 30 Nov 2026 12:01:30 GMT" } }), now).count(),
        90);
    QCOMPARE(
        retryDelay(headers({ { "Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT" } }), now).count(),
        0);
    QCOMPARE(retryDelay(headers({ { "Retry-After", "999999999" } }), now).count(), 3600);
    QCOMPARE(retryDelay(headers({ { "Retry-After", "soon" } }), now).count(), 0);
    QCOMPARE(retryDelay(headers({}), now).count(), 0);
}

void HubProtocolTest::tellsProblemsApart_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("code");
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<bool>("hadToken");
    QTest::addColumn<Kind>("expected");
    const auto row = [](const char *name, int status, const char *code, const char *message,
                        bool hadToken, Kind expected) {
        QTest::newRow(name) << status << QByteArray(code) << QByteArray(message) << hadToken
                            << expected;
    };
    row("gated, nobody", 401, "GatedRepo", "Access to model o/m is restricted. Please log in.",
        false, Kind::TokenNeeded);
    row("gated, bad token", 401, "GatedRepo", "", true, Kind::TokenInvalid);
    row("gated, terms", 403, "GatedRepo",
        "Access to model o/m is restricted and you are not in the authorized list.", true,
        Kind::TermsNotAccepted);
    row("gated, waiting", 403, "GatedRepo",
        "Your request to access model o/m is awaiting a review from the repo authors.", true,
        Kind::ApprovalPending);
    row("gated, refused", 403, "GatedRepo",
        "Your request to access model o/m has been rejected by the repo's authors.", true,
        Kind::ApprovalRefused);
    row("gated, scope", 403, "GatedRepo",
        "Please enable access to public gated repositories in your fine-grained token settings.",
        true, Kind::TokenLacksScope);
    row("no such repository", 404, "RepoNotFound", "", true, Kind::RepositoryNotFound);
    row("hidden repository", 401, "RepoNotFound", "", false, Kind::RepositoryNotFound);
    row("bad token", 401, "", "Invalid credentials", true, Kind::TokenInvalid);
    row("revision", 404, "RevisionNotFound", "", false, Kind::RevisionNotFound);
    row("file", 404, "EntryNotFound", "", false, Kind::FileNotFound);
    row("down", 403, "", "Access to this resource is disabled.", false, Kind::TakenDown);
    row("rate", 429, "", "", false, Kind::RateLimited);
    row("busy", 503, "", "", false, Kind::ServerBusy);
    row("gateway", 502, "GatedRepo", "", false, Kind::ServerBusy);
    row("refused", 403, "", "", false, Kind::Refused);
    row("teapot", 418, "", "", false, Kind::Refused);
}

void HubProtocolTest::tellsProblemsApart()
{
    QFETCH(const int, status);
    QFETCH(const QByteArray, code);
    QFETCH(const QByteArray, message);
    QFETCH(const bool, hadToken);
    QFETCH(const Kind, expected);
    const ModelProblem found = hubProblem(
        status,
        headers(
            { { "X-Error-Code", code }, { "X-Error-Message", message }, { "Retry-After", "5" } }),
        hadToken, QDateTime::currentDateTimeUtc());
    QCOMPARE(found.kind, expected);
    QVERIFY(found.detail.startsWith(u"HTTP %1"_s.arg(status)));
    QCOMPARE(found.retryAfter.count(), isTransient(expected) ? 5 : 0);
}

void HubProtocolTest::everyProblemHasWords()
{
    for (int kind = int(Kind::Offline); kind <= int(Kind::NotAModel); ++kind) {
        QVERIFY(problemText(Kind(kind)).endsWith(u'.'));
        // What passes by itself is never the person's to solve.
        QVERIFY(!isTransient(Kind(kind)) || problemAction(Kind(kind)) == "retry"_L1);
    }
    QVERIFY(problemText(Kind::None).isEmpty());
}

QTEST_GUILESS_MAIN(HubProtocolTest)
#include "tst_hub_protocol.moc"
