// SPDX-License-Identifier: MIT
//
// Conversations kept in a real database: what comes back, branches, replies under way, search.
#include "app/store/conversation_store.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QTemporaryDir>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::ConversationRecord;
using app::ConversationStore;
using app::DatabaseThread;
using app::MessageRecord;
using app::RecordId;
using app::ReplyEnd;
using app::SearchHit;
using app::StoredConversation;
using engine::Role;

class ConversationStoreTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        reopen();
    }
    void cleanup()
    {
        m_store.reset();
        m_database.reset();
    }
    void givesBackEverythingOfAMessage();
    void listsTheLastUsedFirst();
    void renames();
    void deletesUntilItIsUndone();
    void forgetsWhatWasDeletedBefore();
    void keepsAlternativesAsSiblings();
    void findsTheBranchOfAMessage();
    void completesAReplyCutShort();
    void finishesAReplyAsAWhole();
    void searchesTitlesAndMessages();
    void searchesInsideRunsOfCjk();
    void doesNotFindWhatIsGone();
    void skipsSearchesThatWereOvertaken();
    void makesGrowingIds();

private:
    void reopen()
    {
        m_store.reset();
        m_database.reset();
        m_database = std::make_unique<DatabaseThread>(m_folder->filePath(u"store/firesteel.db"_s));
        m_store = std::make_unique<ConversationStore>(*m_database);
        m_listed = valueOf(waitFor(m_store->open()));
    }
    StoredConversation load(RecordId id, std::optional<RecordId> through = {})
    {
        return valueOf(waitFor(m_store->load(id, through)));
    }
    ConversationRecord add(const QString &title)
    {
        const ConversationRecord record = newConversation(title);
        valueOf(waitFor(m_store->addConversation(record)));
        return record;
    }
    MessageRecord say(const ConversationRecord &conversation, std::optional<RecordId> parent,
                      std::string text, Role role = Role::User)
    {
        const MessageRecord message = newMessage(conversation, parent, std::move(text), role);
        valueOf(waitFor(m_store->addMessage(message)));
        return message;
    }
    QList<RecordId> found(const QString &query)
    {
        QList<RecordId> ids;
        for (const SearchHit &hit : valueOf(waitFor(m_store->search(query, 20))))
            ids << hit.conversation.id;
        return ids;
    }
    QStringList titles() const
    {
        QStringList all;
        for (const app::ConversationSummary &summary : m_listed)
            all << summary.title;
        return all;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<DatabaseThread> m_database;
    std::unique_ptr<ConversationStore> m_store;
    std::vector<app::ConversationSummary> m_listed;
};

void ConversationStoreTest::givesBackEverythingOfAMessage()
{
    ConversationRecord conversation = newConversation(u"Maps \"and\" 東京"_s);
    conversation.settings = { { u"thinkingEffort"_s, 2 } };
    m_store->addConversation(conversation);
    const MessageRecord question = say(conversation, {}, "How?\nWhy?");
    m_store->setTokens(question.id, { 7, 8 }, "00d1ce5");
    MessageRecord expected = question;
    expected.tokens = { 7, 8 };
    expected.vocabulary = "00d1ce5";
    const MessageRecord reply = fullReply(conversation, question.id);
    valueOf(waitFor(m_store->addMessage(reply)));
    reopen();
    const StoredConversation stored = load(conversation.summary.id);
    QCOMPARE(stored.record.summary.title, conversation.summary.title);
    QCOMPARE(stored.record.summary.created, conversation.summary.created);
    QCOMPARE(stored.record.settings, conversation.settings);
    QCOMPARE(stored.record.currentMessage, reply.id);
    QCOMPARE(stored.messages.size(), 2U);
    compareMessages(stored.messages[0], expected);
    compareMessages(stored.messages[1], reply);
}

void ConversationStoreTest::listsTheLastUsedFirst()
{
    const ConversationRecord first = add(u"first"_s);
    add(u"second"_s);
    reopen();
    QCOMPARE(titles(), QStringList({ u"second"_s, u"first"_s }));
    MessageRecord later = newMessage(first, {}, "again");
    later.created += 1000;
    valueOf(waitFor(m_store->addMessage(later)));
    reopen();
    QCOMPARE(titles(), QStringList({ u"first"_s, u"second"_s }));
}

void ConversationStoreTest::renames()
{
    const ConversationRecord conversation = add(u"old name"_s);
    valueOf(waitFor(m_store->rename(conversation.summary.id, u"new name"_s)));
    QCOMPARE(found(u"old"_s), QList<RecordId>());
    QCOMPARE(found(u"new"_s), QList<RecordId>({ conversation.summary.id }));
    reopen();
    QCOMPARE(titles(), QStringList({ u"new name"_s }));
}

void ConversationStoreTest::deletesUntilItIsUndone()
{
    const ConversationRecord conversation = add(u"maps"_s);
    say(conversation, {}, "hash");
    valueOf(waitFor(m_store->remove(conversation.summary.id)));
    QCOMPARE(valueOf(waitFor(m_store->list())).size(), 0U);
    QCOMPARE(found(u"hash"_s).size(), 0);
    valueOf(waitFor(m_store->restore(conversation.summary.id)));
    QCOMPARE(valueOf(waitFor(m_store->list())).size(), 1U);
    QCOMPARE(found(u"hash"_s).size(), 1);
    QCOMPARE(load(conversation.summary.id).messages.size(), 1U);
}

void ConversationStoreTest::forgetsWhatWasDeletedBefore()
{
    const ConversationRecord first = add(u"first"_s);
    say(first, {}, "hash");
    const ConversationRecord second = add(u"second"_s);
    m_store->remove(first.summary.id);
    valueOf(waitFor(m_store->remove(second.summary.id)));
    const auto gone = waitFor(m_store->load(first.summary.id));
    QCOMPARE(gone.error().code, app::StoreErrorCode::NotFound);
    QCOMPARE(load(second.summary.id).record.summary.title, u"second"_s);
    reopen();
    QVERIFY(!waitFor(m_store->load(second.summary.id)));
    const auto left = waitFor(m_database->read([](const QSqlDatabase &sql) {
        return app::singleValue(sql, u"SELECT count(*) FROM messages"_s);
    }));
    QCOMPARE(left->toInt(), 0);
}

void ConversationStoreTest::keepsAlternativesAsSiblings()
{
    const ConversationRecord conversation = add(u"maps"_s);
    const MessageRecord question = say(conversation, {}, "How?");
    const MessageRecord first = say(conversation, question.id, "So.", Role::Assistant);
    const MessageRecord second = say(conversation, question.id, "Or so.", Role::Assistant);
    const StoredConversation shown = load(conversation.summary.id);
    QCOMPARE(shown.messages.size(), 2U);
    QCOMPARE(shown.messages[1].id, second.id);
    const StoredConversation other = load(conversation.summary.id, first.id);
    QCOMPARE(other.messages.size(), 2U);
    QCOMPARE(other.messages[1].text, "So.");
    QCOMPARE(other.record.currentMessage, first.id);
    const std::map<RecordId, std::vector<RecordId>> both { { first.id, { first.id, second.id } } };
    QCOMPARE(other.alternatives, both);
    valueOf(waitFor(m_store->showBranch(conversation.summary.id, first.id)));
    reopen();
    QCOMPARE(load(conversation.summary.id).messages[1].id, first.id);
}

void ConversationStoreTest::findsTheBranchOfAMessage()
{
    const ConversationRecord conversation = add(u"maps"_s);
    const MessageRecord question = say(conversation, {}, "How?");
    const MessageRecord early = say(conversation, question.id, "So.", Role::Assistant);
    const MessageRecord followUp = say(conversation, early.id, "And then?");
    const MessageRecord end = say(conversation, followUp.id, "Then that.", Role::Assistant);
    say(conversation, question.id, "Or so.", Role::Assistant);
    const StoredConversation branch = load(conversation.summary.id, early.id);
    QCOMPARE(branch.messages.size(), 4U); // to its newest leaf
    QCOMPARE(branch.record.currentMessage, end.id);
    // A message of another conversation chooses nothing.
    const ConversationRecord stranger = add(u"other"_s);
    QCOMPARE(load(stranger.summary.id, early.id).messages.size(), 0U);
}

void ConversationStoreTest::completesAReplyCutShort()
{
    const ConversationRecord conversation = add(u"maps"_s);
    const MessageRecord question = say(conversation, {}, "How?");
    MessageRecord reply = newMessage(conversation, question.id, {}, Role::Assistant);
    reply.end = ReplyEnd::UnderWay;
    reply.model = u"Glimmer"_s;
    m_store->beginTurn({}, reply);
    m_store->appendToReply({ reply.id, 1, {}, "Let me", { 1, 2 } });
    m_store->appendToReply({ reply.id, 2, "A hash", " think.", { 3 } });
    valueOf(waitFor(m_store->appendToReply({ reply.id, 3, " map keeps", {}, { 4, 5 } })));
    reopen(); // as after a kill: nobody finished it
    const MessageRecord stored = load(conversation.summary.id).messages.at(1);
    QCOMPARE(stored.end, ReplyEnd::Interrupted);
    QCOMPARE(stored.text, "A hash map keeps");
    QCOMPARE(stored.thinking, "Let me think.");
    QCOMPARE(stored.tokens, (std::vector<std::int32_t> { 1, 2, 3, 4, 5 }));
    QCOMPARE(stored.model, u"Glimmer"_s);
    QCOMPARE(found(u"keeps"_s).size(), 1);
}

void ConversationStoreTest::finishesAReplyAsAWhole()
{
    const ConversationRecord conversation = add(u"maps"_s);
    const MessageRecord question = say(conversation, {}, "How?");
    MessageRecord reply = fullReply(conversation, question.id);
    MessageRecord begun = newMessage(conversation, question.id, {}, Role::Assistant);
    begun.end = ReplyEnd::UnderWay;
    begun.id = reply.id;
    begun.created = reply.created;
    m_store->beginTurn({}, begun);
    m_store->appendToReply({ reply.id, 1, "Maps", {}, { 1 } });
    valueOf(waitFor(m_store->finishReply(reply)));
    const auto parts = waitFor(m_database->read([](const QSqlDatabase &sql) {
        return app::singleValue(sql, u"SELECT count(*) FROM reply_parts"_s);
    }));
    QCOMPARE(parts->toInt(), 0);
    reopen();
    compareMessages(load(conversation.summary.id).messages.at(1), reply);
}

void ConversationStoreTest::searchesTitlesAndMessages()
{
    const ConversationRecord maps = add(u"Hash maps"_s);
    say(maps, {}, "How does a hash map work? <b>&amp;");
    const ConversationRecord trip = add(u"Trip to Kyōto"_s);
    const MessageRecord plan = say(trip, {}, "Where shall we go?\nTo the maple trees.");
    QCOMPARE(found(u"map"_s), QList<RecordId>({ maps.summary.id, trip.summary.id }));
    QCOMPARE(found(u"HASH work"_s), QList<RecordId>({ maps.summary.id }));
    QCOMPARE(found(u"hash trees"_s), QList<RecordId>()); // every word, in one message
    QCOMPARE(found(u"kyoto"_s), QList<RecordId>({ trip.summary.id }));
    QCOMPARE(found(u"ash"_s), QList<RecordId>()); // beginnings of words
    QCOMPARE(found(u"\"* OR"_s), QList<RecordId>());
    const auto hits = valueOf(waitFor(m_store->search(u"tree"_s, 20)));
    QCOMPARE(hits.front().message, plan.id);
    QCOMPARE(hits.front().excerptHtml, u"Where shall we go? To the maple <b>tree</b>s."_s);
    QCOMPARE(hits.front().titleHtml, u"Trip to Kyōto"_s);
    const auto escaped = valueOf(waitFor(m_store->search(u"work"_s, 20)));
    QCOMPARE(escaped.front().excerptHtml, u"How does a hash map <b>work</b>? &lt;b&gt;&amp;amp;"_s);
}

void ConversationStoreTest::searchesInsideRunsOfCjk()
{
    const ConversationRecord trip = add(u"旅行"_s);
    say(trip, {}, "東京都と京都市へ行きたいです。ＧＰＵも");
    for (const QString &query : { u"京都"_s, u"京都市"_s, u"東京"_s, u"都"_s, u"す"_s,
                                  u"行きたい"_s, u"gpu"_s, u"京都 東京"_s })
        QVERIFY2(found(query) == QList<RecordId>({ trip.summary.id }), qPrintable(query));
    for (const QString &query : { u"京東"_s, u"市京"_s, u"大阪"_s })
        QVERIFY2(found(query).isEmpty(), qPrintable(query));
}

void ConversationStoreTest::doesNotFindWhatIsGone()
{
    const ConversationRecord first = add(u"first"_s);
    say(first, {}, "needle");
    const ConversationRecord second = add(u"second"_s);
    m_store->remove(first.summary.id);
    m_store->remove(second.summary.id); // ends the undo of the first
    QCOMPARE(found(u"needle"_s).size(), 0);
    const auto indexed = waitFor(m_database->read([](const QSqlDatabase &sql) {
        return app::singleValue(
            sql, u"SELECT count(*) FROM message_index WHERE message_index MATCH 'needle'"_s);
    }));
    QCOMPARE(indexed->toInt(), 0);
}

void ConversationStoreTest::skipsSearchesThatWereOvertaken()
{
    const ConversationRecord conversation = add(u"maps"_s);
    valueOf(waitFor(m_store->addMessage(newMessage(conversation, {}, "hash"))));
    // The thread is busy while both are asked for.
    m_database->read([](const QSqlDatabase &) {
        QThread::msleep(100);
        return app::StoreResult<int>(0);
    });
    auto early = m_store->search(u"hash"_s, 5);
    auto late = m_store->search(u"maps"_s, 5);
    QCOMPARE(valueOf(waitFor(early)).size(), 0U);
    QCOMPARE(valueOf(waitFor(late)).size(), 1U);
}

void ConversationStoreTest::makesGrowingIds()
{
    RecordId last = 0;
    for (int i = 0; i < 100'000; ++i) {
        const RecordId id = app::newRecordId();
        QVERIFY(id > last);
        last = id;
    }
    // Not farther ahead of the clock than a counter can get.
    QVERIFY((last >> 22) - app::currentMilliseconds() <= 1);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::ConversationStoreTest)
#include "tst_conversation_store.moc"
