// SPDX-License-Identifier: MIT
//
// Conversations out to JSON and in again: nothing is lost, bad files end in a clear message.
#include "app/store/conversation_exchange.h"
#include "app/store/conversation_json.h"
#include "app/store/conversation_markdown.h"
#include "app/store/conversation_store.h"
#include "tests/app/store/store_fixture.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::ConversationExchange;
using app::ConversationRecord;
using app::ConversationStore;
using app::DatabaseThread;
using app::ExchangeResult;
using app::MessageRecord;
using app::RecordId;
using app::StoredConversation;
using engine::Role;

namespace {

// A program with its own database.
struct Place
{
    explicit Place(const QString &file)
        : database(file)
        , store(database)
        , exchange(database)
    {
        valueOf(waitFor(store.open()));
    }

    StoredConversation whole(RecordId id)
    {
        return valueOf(waitFor(
            database.read([id](const QSqlDatabase &sql) { return app::loadWhole(sql, id); })));
    }

    DatabaseThread database;
    ConversationStore store;
    ConversationExchange exchange;
};

} // namespace

class ConversationExchangeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void losesNothing();
    void exportsOneConversation();
    void exportsMarkdownForPeople();
    void closesAFenceThatAnAnswerLeftOpen_data();
    void closesAFenceThatAnAnswerLeftOpen();
    void knowsWhatIsAlreadyHere();
    void addsACopyWhenIdsAreTaken();
    void bringsBackWhatWasDeleted();
    void toleratesBadFields();
    void refusesOtherFiles_data();
    void refusesOtherFiles();
    void keepsWhatCameBeforeABreak();
    void leavesTheOldFileWhenAnExportFails();

private:
    QString path(const QString &name) const { return m_folder->filePath(name); }
    void write(const QString &name, const QByteArray &bytes)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }
    QByteArray bytesOf(const QString &name)
    {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Place> m_here;
    ConversationRecord m_maps;
    ConversationRecord m_trip;
};

void ConversationExchangeTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_here = std::make_unique<Place>(path(u"here.db"_s));
    m_maps = newConversation(u"Maps"_s);
    m_maps.settings = { { u"thinkingEffort"_s, 3 }, { u"later"_s, QJsonArray { 1.5, u"x"_s } } };
    m_here->store.addConversation(m_maps);
    const MessageRecord question = newMessage(m_maps, {}, "How?");
    m_here->store.addMessage(question);
    m_here->store.addMessage(fullReply(m_maps, question.id));
    const MessageRecord other = newMessage(m_maps, question.id, "Or so.", Role::Assistant);
    m_here->store.addMessage(other);
    MessageRecord result = newMessage(m_maps, other.id, "21 degrees", Role::Tool);
    result.toolCallId = "call_1";
    m_here->store.addMessage(result);
    m_trip = newConversation(u"Trip"_s);
    m_here->store.addConversation(m_trip);
    valueOf(waitFor(m_here->store.addMessage(newMessage(m_trip, {}, "Where?"))));
}

void ConversationExchangeTest::losesNothing()
{
    const ExchangeResult written
        = valueOf(waitFor(m_here->exchange.exportTo(path(u"all.json"_s), {})));
    QCOMPARE(written.conversations, 2);
    QCOMPARE(written.messages, 5);
    const QJsonObject json = QJsonDocument::fromJson(bytesOf(u"all.json"_s)).object();
    QCOMPARE(json["format"_L1].toString(), QLatin1StringView(app::kExchangeFormat));
    QCOMPARE(json["version"_L1].toInt(), app::kExchangeVersion);

    Place there(path(u"there.db"_s));
    const ExchangeResult read = valueOf(waitFor(there.exchange.importFrom(path(u"all.json"_s))));
    QCOMPARE(read.conversations, 2);
    QCOMPARE(read.messages, 5);
    QCOMPARE(read.unreadable, 0);
    for (const RecordId id : { m_maps.summary.id, m_trip.summary.id }) {
        const StoredConversation expected = m_here->whole(id);
        const StoredConversation actual = there.whole(id);
        QCOMPARE(actual.record.summary.title, expected.record.summary.title);
        QCOMPARE(actual.record.summary.created, expected.record.summary.created);
        QCOMPARE(actual.record.summary.updated, expected.record.summary.updated);
        QCOMPARE(actual.record.currentMessage, expected.record.currentMessage);
        QCOMPARE(actual.record.settings, expected.record.settings);
        QCOMPARE(actual.messages.size(), expected.messages.size());
        for (std::size_t i = 0; i < actual.messages.size(); ++i)
            compareMessages(actual.messages[i], expected.messages[i]);
    }
    QCOMPARE(valueOf(waitFor(there.store.search(u"degrees"_s, 5))).size(), 1U);
    // And out again: the same conversations, byte for byte.
    valueOf(waitFor(there.exchange.exportTo(path(u"again.json"_s), {})));
    QCOMPARE(bytesOf(u"again.json"_s).split('\n').sliced(1),
             bytesOf(u"all.json"_s).split('\n').sliced(1));
}

void ConversationExchangeTest::exportsOneConversation()
{
    const ExchangeResult written
        = valueOf(waitFor(m_here->exchange.exportTo(path(u"one.json"_s), m_trip.summary.id)));
    QCOMPARE(written.conversations, 1);
    QVERIFY(!bytesOf(u"one.json"_s).contains("Or so."));
}

void ConversationExchangeTest::exportsMarkdownForPeople()
{
    const ExchangeResult written
        = valueOf(waitFor(m_here->exchange.exportTo(path(u"maps.md"_s), m_maps.summary.id)));
    QCOMPARE(written.conversations, 1);
    const QString text = QString::fromUtf8(bytesOf(u"maps.md"_s));
    QVERIFY2(text.startsWith(u"# Maps\n\n**You** · "_s), qPrintable(text));
    // The branch on show, in order, each text as it is.
    const qsizetype question = text.indexOf(u"\n\nHow?\n"_s);
    const qsizetype answer = text.indexOf(u"\n\nOr so.\n"_s);
    const qsizetype result = text.indexOf(u"\n\n21 degrees\n"_s);
    QVERIFY2(0 < question && question < answer && answer < result, qPrintable(text));
    QVERIFY(!text.contains(u"東京"_s)); // of the other branch
    QVERIFY(!text.contains(u"Let me think."_s));

    QCOMPARE(valueOf(waitFor(m_here->exchange.exportTo(path(u"all.MD"_s), {}))).conversations, 2);
    const QString all = QString::fromUtf8(bytesOf(u"all.MD"_s));
    QCOMPARE(all.count(u"\n---\n\n# "_s), 1);
    QVERIFY(all.contains(u"# Trip\n"_s) && all.contains(u"# Maps\n"_s));
}

void ConversationExchangeTest::closesAFenceThatAnAnswerLeftOpen_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("closing"); // what comes after it
    QTest::newRow("none") << u"plain"_s << u""_s;
    QTest::newRow("closed") << u"```py\nx\n```"_s << u""_s;
    QTest::newRow("open") << u"a\n```py\nx = 1"_s << u"\n```"_s;
    QTest::newRow("longer") << u"````\n```\nx"_s << u"\n````"_s;
    QTest::newRow("tildes") << u"~~~\n```\nx"_s << u"\n~~~"_s;
    QTest::newRow("second") << u"```\na\n```\n```\nb"_s << u"\n```"_s;
    QTest::newRow("code in a line") << u"```not a fence```\nx"_s << u""_s;
    QTest::newRow("indented code") << u"    ```\n    x"_s << u""_s;
    QTest::newRow("fence with a word does not close") << u"```\n```py\nx"_s << u"\n```"_s;
}

void ConversationExchangeTest::closesAFenceThatAnAnswerLeftOpen()
{
    QFETCH(const QString, text);
    QFETCH(const QString, closing);
    StoredConversation conversation;
    conversation.record = newConversation(u"A *title* with # and [signs]"_s);
    MessageRecord reply = newMessage(conversation.record, {},
                                     " \n\n" + text.toStdString() + "\n \n", Role::Assistant);
    reply.model = u"Glimmer"_s;
    conversation.messages = { reply, newMessage(conversation.record, reply.id, "and then") };
    const QString document = app::conversationMarkdown(conversation);
    QVERIFY2(document.startsWith(u"# A \\*title\\* with \\# and \\[signs\\]\n\n**Glimmer** · "_s),
             qPrintable(document));
    QVERIFY2(document.contains(u"\n\n"_s + text + closing + u"\n\n**You** · "_s),
             qPrintable(document));
    QVERIFY(document.endsWith(u"\n\nand then\n"_s));
}

void ConversationExchangeTest::knowsWhatIsAlreadyHere()
{
    valueOf(waitFor(m_here->exchange.exportTo(path(u"all.json"_s), {})));
    const ExchangeResult read = valueOf(waitFor(m_here->exchange.importFrom(path(u"all.json"_s))));
    QCOMPARE(read.conversations, 0);
    QCOMPARE(read.alreadyHere, 2);
    QCOMPARE(valueOf(waitFor(m_here->store.list())).size(), 2U);
}

void ConversationExchangeTest::addsACopyWhenIdsAreTaken()
{
    valueOf(waitFor(m_here->exchange.exportTo(path(u"all.json"_s), m_maps.summary.id)));
    const StoredConversation before = m_here->whole(m_maps.summary.id);
    valueOf(waitFor(m_here->store.rename(m_maps.summary.id, u"Mine"_s)));
    const ExchangeResult read = valueOf(waitFor(m_here->exchange.importFrom(path(u"all.json"_s))));
    QCOMPARE(read.conversations, 1);
    const auto listed = valueOf(waitFor(m_here->store.list()));
    QCOMPARE(listed.size(), 3U);
    for (const app::ConversationSummary &summary : listed) {
        if (summary.title != u"Maps"_s)
            continue;
        const StoredConversation copy = m_here->whole(summary.id);
        QVERIFY(summary.id != m_maps.summary.id);
        QCOMPARE(copy.messages.size(), before.messages.size());
        QCOMPARE(copy.messages[1].parent, copy.messages[0].id);
        QCOMPARE(copy.messages[2].parent, copy.messages[0].id);
        QCOMPARE(copy.record.currentMessage, copy.messages[3].id);
        QCOMPARE(copy.messages[1].text, before.messages[1].text);
        return;
    }
    QFAIL("the copy is not listed");
}

void ConversationExchangeTest::bringsBackWhatWasDeleted()
{
    valueOf(waitFor(m_here->exchange.exportTo(path(u"all.json"_s), {})));
    valueOf(waitFor(m_here->store.remove(m_trip.summary.id)));
    const ExchangeResult read = valueOf(waitFor(m_here->exchange.importFrom(path(u"all.json"_s))));
    QCOMPARE(read.conversations, 1);
    QCOMPARE(valueOf(waitFor(m_here->store.list())).size(), 2U);
}

// One bad field costs that field, never the conversation.
void ConversationExchangeTest::toleratesBadFields()
{
    write(u"odd.json"_s, R"({"version":1,"format":"firesteel.conversations","more":{"x":[1]},
        "conversations":[
        {"title":7,"messages":[
            {"id":"5","role":"user","text":"one","tokens":[1,"2"],"created":null},
            {"id":"5","role":"assistant","text":"two","parent":"5","statistics":3,
             "finish":"later","error":[],"toolCalls":[{"id":1},{"name":"f"}]},
            {"role":"robot","text":null,"parent":"99"},
            8]},
        {"title":"no messages"},
        {"title":"empty","messages":[],"settings":null,"currentMessage":"12"}]})");
    const ExchangeResult read = valueOf(waitFor(m_here->exchange.importFrom(path(u"odd.json"_s))));
    QCOMPARE(read.conversations, 2);
    QCOMPARE(read.unreadable, 1);
    const auto hits = valueOf(waitFor(m_here->store.search(u"two"_s, 5)));
    QCOMPARE(hits.size(), 1U);
    const StoredConversation odd = m_here->whole(hits.front().conversation.id);
    QCOMPARE(odd.messages.size(), 4U);
    const auto message = [&odd](const std::string &text) {
        return *std::ranges::find(odd.messages, text, &MessageRecord::text);
    };
    QVERIFY(!message("one").tokens);
    QCOMPARE(message("two").parent, 5);
    QCOMPARE(message("two").end, app::ReplyEnd::Interrupted);
    QCOMPARE(message("two").toolCalls.size(), 1U);
    QCOMPARE(message("two").toolCalls.front().argumentsJson, "{}");
}

void ConversationExchangeTest::refusesOtherFiles_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    QTest::newRow("no JSON") << QByteArray("hello") << u"broken JSON"_s;
    QTest::newRow("empty") << QByteArray() << u"broken JSON"_s;
    QTest::newRow("other JSON") << QByteArray("[1,2]") << u"is not a file of"_s;
    QTest::newRow("other object") << QByteArray(R"({"conversations":[{"messages":[]}]})")
                                  << u"is not a file of"_s;
    QTest::newRow("later version")
        << QByteArray(R"({"format":"firesteel.conversations","version":2,"conversations":[]})")
        << u"version 2"_s;
}

void ConversationExchangeTest::refusesOtherFiles()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    write(u"bad.json"_s, bytes);
    const auto read = waitFor(m_here->exchange.importFrom(path(u"bad.json"_s)));
    QVERIFY(!read);
    QVERIFY2(read.error().message.contains(says), qPrintable(read.error().message));
    QVERIFY(read.error().message.contains(u"bad.json"_s));
    QCOMPARE(valueOf(waitFor(m_here->store.list())).size(), 2U);
}

void ConversationExchangeTest::keepsWhatCameBeforeABreak()
{
    valueOf(waitFor(m_here->exchange.exportTo(path(u"all.json"_s), {})));
    const QByteArray all = bytesOf(u"all.json"_s);
    write(u"cut.json"_s, all.first(all.size() - 200));
    Place there(path(u"there.db"_s));
    const auto read = waitFor(there.exchange.importFrom(path(u"cut.json"_s)));
    QVERIFY(!read);
    QVERIFY2(read.error().message.contains(u"whole conversations before it: 1"_s),
             qPrintable(read.error().message));
    QCOMPARE(valueOf(waitFor(there.store.list())).size(), 1U);
    const auto missing = waitFor(there.exchange.importFrom(path(u"missing.json"_s)));
    QVERIFY(missing.error().message.contains(u"missing.json"_s));
}

void ConversationExchangeTest::leavesTheOldFileWhenAnExportFails()
{
    write(u"all.json"_s, "precious");
    const auto failed = waitFor(m_here->exchange.exportTo(path(u"nowhere/all.json"_s), {}));
    QVERIFY(!failed);
    const auto empty = waitFor(m_here->exchange.exportTo(path(u"all.json"_s), RecordId { 1 }));
    QCOMPARE(empty->conversations, 0); // deleted meanwhile
    m_here.reset(); // stops what runs, and waits for it
    QVERIFY(!bytesOf(u"all.json"_s).isEmpty());
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::ConversationExchangeTest)
#include "tst_conversation_exchange.moc"
