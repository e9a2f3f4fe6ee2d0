// SPDX-License-Identifier: MIT
//
// The window's conversations and the store together: what is there after a restart, what is stored
// when, what happens to chats that were never opened.
#include "app/store/sql.h"
#include "tests/app/stored_session.h"

#include <QElapsedTimer>
#include <QTimer>

#include <algorithm>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::ConversationController;
using app::ConversationListModel;
using app::ConversationRecord;
using app::DatabaseThread;
using app::MessageBlockModel;
using app::MessageRecord;
using app::RecordId;
using app::ReplyEnd;

} // namespace

class StoredConversationsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void isAllThereAfterARestart();
    void thinkingIsCountedAsItIsStored();
    void storesTheQuestionBeforeTheEngineSeesIt();
    void storesWhatTheModelReadAndWrote();
    void checkpointsWhileStreaming();
    void keepsWhatCameWhenTheWindowCloses();
    void offersToRetryAReplyThatWasCutShort();
    void keepsAFailedAnswer();
    void keepsTheAnswerBeforeARegeneration();
    void keepsTheEffortOfEachChat();
    void renamesAndDeletesChatsThatWereNeverOpened();
    void continuesAChatFromBefore();
    void opensALongChatOffTheGuiThread();
    void closesChatsThatAreIdle();
    void opensWhatASearchFound();
    void exportsAndImports();
    void chatsOnInASecondInstance();
};

// What streamed lacks the token that ends the thinking; a chat that is opened again shows it.
void StoredConversationsTest::thinkingIsCountedAsItIsStored()
{
    app::MessageBlockModel blocks;
    blocks.appendUserMessage(u"Hi"_s, { 1, std::nullopt });
    blocks.beginAnswer(u"Preparing"_s, { 2, 1 });
    blocks.appendThinking("A greeting.", 3);
    blocks.appendText("Hello!");
    blocks.flush();
    const QModelIndex thinking = blocks.index(1, 0);
    QCOMPARE(thinking.data(MessageBlockModel::TokenCountRole).toInt(), 3);
    QSignalSpy changes(&blocks, &QAbstractItemModel::dataChanged);
    app::MessageRecord reply;
    reply.statistics.emplace();
    reply.statistics->usage.reasoningTokens = 4;
    blocks.endAnswer(reply);
    QCOMPARE(thinking.data(MessageBlockModel::TokenCountRole).toInt(), 4);
    QVERIFY(std::ranges::any_of(changes, [](const QVariantList &change) {
        return change[2].value<QList<int>>().contains(MessageBlockModel::TokenCountRole);
    }));
}

void StoredConversationsTest::isAllThereAfterARestart()
{
    Session session(answering("# Maps\n\nA *hash* map.\n\n```py\nx = 1\n```\n", "Let me think."));
    QVERIFY(session.start());
    QVERIFY(session.say(u"How does a hash map work?"_s));
    session.application->newConversation();
    QVERIFY(session.say(u"second"_s));
    session.application->renameConversation(0, u"Other"_s);
    QVERIFY(session.open(1));
    const QList<int> types = session.types();
    const QString statistics = session.lastText(MessageBlockModel::StatisticsRole);
    const int promptTokens = session.chat()->promptTokens();
    const int thinkingTokens = session.value(1, MessageBlockModel::TokenCountRole).toInt();

    QVERIFY(session.start());
    QCOMPARE(session.list()->rowCount(), 2);
    QCOMPARE(session.list()->index(0, 0).data(ConversationListModel::TitleRole).toString(),
             u"Other"_s);
    QVERIFY(session.chat()->isEmpty()); // begins with a new chat
    QVERIFY(session.open(1));
    QCOMPARE(session.chat()->title(), u"How does a hash map work?"_s);
    QCOMPARE(session.types(), types);
    QCOMPARE(session.value(1, MessageBlockModel::TokenCountRole).toInt(), thinkingTokens);
    QCOMPARE(session.value(4, MessageBlockModel::CodeRole).toString(), u"x = 1"_s);
    QCOMPARE(session.lastText(MessageBlockModel::StatisticsRole), statistics);
    QCOMPARE(session.chat()->promptTokens(), promptTokens);
    const QAbstractItemModelTester blocks(session.chat()->blocks());
    session.chat()->blocks()->setExpanded(1, true);
    QCOMPARE(session.value(2, MessageBlockModel::TextRole).toString(), u"Let me think."_s);
    session.chat()->blocks()->setExpanded(1, false);
    QCOMPARE(session.types(), types);
}

void StoredConversationsTest::storesTheQuestionBeforeTheEngineSeesIt()
{
    Session session;
    QString seen;
    const QString file = session.file();
    // Called by Engine::prepare, the first the engine hears of a message.
    session.script.answer = [&seen, file](const auto &) {
        app::Database reader;
        reader.open(file); // read only: the application has it
        const auto text = app::singleValue(reader.connection(),
                                           u"SELECT text FROM messages WHERE role = 'user'"_s);
        seen = text ? text->toString() : text.error().message;
        FakeAnswer answer;
        answer.text = "fine";
        return answer;
    };
    QVERIFY(session.start());
    QVERIFY(session.say(u"keep this"_s));
    QCOMPARE(seen, u"keep this"_s);
}

void StoredConversationsTest::storesWhatTheModelReadAndWrote()
{
    Session session(answering("some words", "hm"));
    QVERIFY(session.start());
    QVERIFY(session.say(u"go"_s));
    const RecordId id = session.chat()->id();
    const auto stored
        = session.read([id](const QSqlDatabase &sql) { return app::loadWhole(sql, id); });
    QCOMPARE(stored.messages.size(), 2U);
    QVERIFY(stored.messages[0].tokens.has_value());
    const MessageRecord &reply = stored.messages[1];
    QCOMPARE(reply.end, ReplyEnd::Stop);
    QCOMPARE(reply.text, "some words");
    QCOMPARE(reply.thinking, "hm");
    QCOMPARE(reply.model, u"Glimmer"_s);
    QVERIFY(reply.tokens && !reply.tokens->empty());
    QCOMPARE(reply.tokens->size(), std::size_t(reply.statistics->usage.completionTokens));
    QCOMPARE(reply.parent, stored.messages[0].id);
}

void StoredConversationsTest::checkpointsWhileStreaming()
{
    Session session(answering(std::string(4000, 'x')));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(10);
    QTRY_COMPARE(session.fake->emittedTokens(), 10);
    const auto storedCharacters = [&session] {
        return session
            .read([](const QSqlDatabase &sql) {
                return app::singleValue(sql, u"SELECT total(length(text)) FROM reply_parts"_s);
            })
            .toInt();
    };
    QTRY_COMPARE(storedCharacters(), 40);
    session.fake->allowTokens(10);
    QTRY_COMPARE(storedCharacters(), 80);
    session.fake->releaseTokens();
    QVERIFY(session.waitIdle());
    QCOMPARE(storedCharacters(), 0);
}

void StoredConversationsTest::keepsWhatCameWhenTheWindowCloses()
{
    Session session(answering(std::string(4000, 'x')));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(10);
    QTRY_COMPARE(session.types().last(), int(MessageBlockModel::Paragraph));
    QTRY_COMPARE(session.chat()->messageSource(1).size(), 40);
    QVERIFY(session.start()); // closes the one before
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->messageSource(1).size(), 40);
    QCOMPARE(session.lastText(MessageBlockModel::ErrorActionRole), u"retry"_s);
}

void StoredConversationsTest::offersToRetryAReplyThatWasCutShort()
{
    Session session(answering("the whole answer"));
    const ConversationRecord conversation = newConversation(u"cut"_s);
    session.fill([&](const QSqlDatabase &sql) -> app::StoreResult<void> {
        const MessageRecord question = newMessage(conversation, {}, "How?");
        MessageRecord reply = newMessage(conversation, question.id, {}, engine::Role::Assistant);
        reply.end = ReplyEnd::UnderWay;
        if (auto done = app::insertConversation(sql, conversation); !done)
            return done;
        if (auto done = app::insertMessage(sql, question); !done)
            return done;
        if (auto done = app::beginReply(sql, reply); !done)
            return done;
        return app::appendReplyPart(sql, { reply.id, 1, "the wh", {}, { 1, 2 } });
    });
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->messageSource(1), u"the wh"_s);
    QCOMPARE(session.lastText(MessageBlockModel::ErrorActionRole), u"retry"_s);
    session.chat()->retry();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->messageSource(1), u"the whole answer"_s);
    QCOMPARE(session.fake->lastMessages().size(), 1U);
}

void StoredConversationsTest::keepsAFailedAnswer()
{
    Session session;
    session.script.submitError = engine::Error { engine::ErrorCode::QueueFull, "8 requests wait." };
    QVERIFY(session.start());
    QVERIFY(session.say(u"go"_s));
    const QString told = session.lastText(MessageBlockModel::ErrorTextRole);
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QCOMPARE(session.lastText(MessageBlockModel::ErrorTextRole), told);
    QCOMPARE(session.lastText(MessageBlockModel::ErrorActionRole), u"retry"_s);
}

void StoredConversationsTest::keepsTheAnswerBeforeARegeneration()
{
    int calls = 0;
    Session session;
    session.script.answer = [&calls](const auto &) {
        FakeAnswer answer;
        answer.text = "answer " + std::to_string(++calls);
        return answer;
    };
    QVERIFY(session.start());
    QVERIFY(session.say(u"go"_s));
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->messageSource(1), u"answer 2"_s);
    const RecordId id = session.chat()->id();
    const auto whole
        = session.read([id](const QSqlDatabase &sql) { return app::loadWhole(sql, id); });
    QCOMPARE(whole.messages.size(), 3U);
    QCOMPARE(whole.messages[1].parent, whole.messages[2].parent);
    session.chat()->reveal(whole.messages[1].id); // as a search does
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->messageSource(1), u"answer 1"_s);
}

void StoredConversationsTest::keepsTheEffortOfEachChat()
{
    Session session(answering("x"));
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Max);
    QVERIFY(session.say(u"first"_s));
    session.application->newConversation();
    QVERIFY(session.say(u"second"_s));
    session.chat()->setThinkingEffort(ConversationController::Off);
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Off);
    QVERIFY(session.open(1));
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Max);
}

void StoredConversationsTest::renamesAndDeletesChatsThatWereNeverOpened()
{
    Session session(answering("x"));
    QVERIFY(session.start());
    for (const QString &title : { u"one"_s, u"two"_s, u"three"_s }) {
        session.application->newConversation();
        QVERIFY(session.say(title));
    }
    QVERIFY(session.start());
    session.application->renameConversation(2, u" eins "_s);
    session.application->deleteConversation(1);
    QCOMPARE(session.application->deletedTitle(), u"two"_s);
    QCOMPARE(session.list()->rowCount(), 2);
    session.application->undoDelete();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->title(), u"two"_s);
    QCOMPARE(session.chat()->messageSource(1), u"x"_s);
    session.application->deleteConversation(1);
    session.application->deleteConversation(0); // ends the undo of the one before
    QVERIFY(session.start());
    QCOMPARE(session.list()->rowCount(), 1);
    QCOMPARE(session.list()->index(0, 0).data(ConversationListModel::TitleRole).toString(),
             u"eins"_s);
    QVERIFY(!session.application->canUndoDelete());
}

void StoredConversationsTest::continuesAChatFromBefore()
{
    Session session(answering("It is 4.", "two and two"));
    QVERIFY(session.start());
    QVERIFY(session.say(u"2 + 2?"_s));
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QVERIFY(session.say(u"sure?"_s));
    const std::vector<engine::Message> sent = session.fake->lastMessages();
    QCOMPARE(sent.size(), 3U);
    QCOMPARE(sent[1].content.front().text, std::string("It is 4."));
    QCOMPARE(sent[1].reasoning.value_or(""), std::string("two and two"));
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->blocks()->messages().size(), 4U);
}

// A chat of 100,000 tokens: reading and laying out happen elsewhere, the event loop goes on.
void StoredConversationsTest::opensALongChatOffTheGuiThread()
{
    Session session;
    const ConversationRecord conversation = newConversation(u"long"_s);
    session.fill([&](const QSqlDatabase &sql) -> app::StoreResult<void> {
        if (auto done = app::insertConversation(sql, conversation); !done)
            return done;
        std::optional<RecordId> parent;
        for (int i = 0; i < 200; ++i) {
            std::string text;
            for (int k = 0; k < 20; ++k)
                text += "A *paragraph* of `some` length with words, words and **words**, "
                        "and then more of them until the line is full.\n\n- item\n\n";
            const MessageRecord message
                = newMessage(conversation, parent, std::move(text),
                             i % 2 == 0 ? engine::Role::User : engine::Role::Assistant);
            parent = message.id;
            if (auto done = app::insertMessage(sql, message); !done)
                return done;
        }
        return {};
    });
    QVERIFY(session.start());
    int turns = 0; // of the event loop
    QTimer ticks;
    ticks.setInterval(0);
    connect(&ticks, &QTimer::timeout, this, [&turns] { ++turns; });
    QElapsedTimer clock;
    clock.start();
    ticks.start();
    session.application->openConversation(0);
    QVERIFY(session.chat()->isLoading());
    QVERIFY(!session.chat()->canSend());
    QCOMPARE(session.chat()->blocks()->rowCount(), 0);
    QVERIFY(session.waitIdle());
    qInfo("opened in %lld ms", clock.elapsed());
    QVERIFY(turns > 0);
    QCOMPARE(session.chat()->blocks()->messages().size(), 200U);
}

void StoredConversationsTest::closesChatsThatAreIdle()
{
    Session session(answering("x"));
    session.fill([](const QSqlDatabase &sql) -> app::StoreResult<void> {
        for (int i = 0; i < 20; ++i) {
            const ConversationRecord conversation = newConversation(u"chat %1"_s.arg(i));
            if (auto done = app::insertConversation(sql, conversation); !done)
                return done;
            if (auto done = app::insertMessage(sql, newMessage(conversation, {}, "hello")); !done)
                return done;
        }
        return {};
    });
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    session.chat()->setDraft(u"half a thought"_s);
    for (int row = 1; row < 20; ++row)
        QVERIFY(session.open(row));
    int open = 0;
    for (int row = 0; row < 20; ++row)
        open += session.list()->at(row) != nullptr ? 1 : 0;
    QCOMPARE(open, 1 + 1 + 8); // the current one, the one with a draft, eight more
    QVERIFY(session.list()->at(0) != nullptr);
    QVERIFY(session.list()->at(1) == nullptr);
    QVERIFY(session.open(1));
    QCOMPARE(session.chat()->messageSource(0), u"hello"_s);
}

void StoredConversationsTest::opensWhatASearchFound()
{
    Session session(answering("A needle in a haystack."));
    QVERIFY(session.start());
    QVERIFY(session.say(u"first"_s));
    session.application->newConversation();
    session.script.answer = nullptr;
    session.fake->setScript(session.script);
    QVERIFY(session.say(u"second"_s));
    QVERIFY(session.start());
    app::ConversationSearchModel &search = *session.application->search();
    const QAbstractItemModelTester searchTester(&search);
    search.setQuery(u"need"_s);
    QVERIFY(search.isSearching());
    QTRY_COMPARE(search.rowCount(), 1);
    QVERIFY(!search.isSearching());
    QCOMPARE(search.index(0, 0).data(app::ConversationSearchModel::ExcerptHtmlRole).toString(),
             u"A <b>need</b>le in a haystack."_s);
    session.application->openSearchHit(0);
    QSignalSpy shown(session.chat(), &ConversationController::shown);
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->title(), u"first"_s);
    QTRY_COMPARE(shown.size(), 1);
    QCOMPARE(shown.front().front().toInt(), 1);
    search.setQuery(u"  "_s);
    QCOMPARE(search.rowCount(), 0);
    session.application->openSearchHit(0); // no such row
    QCOMPARE(session.chat()->title(), u"first"_s);
}

void StoredConversationsTest::exportsAndImports()
{
    Session session(answering("x"));
    QVERIFY(session.start());
    QVERIFY(session.say(u"first"_s));
    const QUrl file = QUrl::fromLocalFile(session.folder.filePath(u"all.json"_s));
    session.application->exportConversations({}, file);
    QVERIFY(session.application->isExchanging());
    QTRY_VERIFY(!session.application->isExchanging());
    QVERIFY2(session.application->exchangeText().contains(u"all.json"_s),
             qPrintable(session.application->exchangeText()));
    session.application->deleteConversation(0);
    session.application->importConversations(file);
    QTRY_VERIFY(!session.application->isExchanging());
    QTRY_COMPARE(session.list()->rowCount(), 1);
    QVERIFY(session.open(0));
    QCOMPARE(session.chat()->messageSource(1), u"x"_s);
    session.application->undoDelete(); // it is there already
    QCOMPARE(session.list()->rowCount(), 1);
    session.application->importConversations(
        QUrl::fromLocalFile(session.folder.filePath(u"missing.json"_s)));
    QTRY_VERIFY(session.application->exchangeText().contains(u"missing.json"_s));
    session.application->dismissExchange();
    QVERIFY(session.application->exchangeText().isEmpty());
}

void StoredConversationsTest::chatsOnInASecondInstance()
{
    Session session(answering("x"));
    DatabaseThread first(session.file());
    QTRY_COMPARE(first.state(), DatabaseThread::State::Ready);
    QVERIFY(session.start());
    QTRY_COMPARE(session.application->database()->state(), DatabaseThread::State::InUse);
    QVERIFY(session.say(u"not kept"_s));
    QCOMPARE(session.chat()->messageSource(1), u"x"_s);
    session.stop();
    const auto count = valueOf(waitFor(first.read([](const QSqlDatabase &sql) {
        return app::singleValue(sql, u"SELECT count(*) FROM conversations"_s);
    })));
    QCOMPARE(count.toInt(), 0);
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::StoredConversationsTest)
#include "tst_stored_conversations.moc"
