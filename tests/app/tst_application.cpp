// SPDX-License-Identifier: MIT
//
// The whole C++ side of the window over a scripted engine: loading, streaming, stopping, failing,
// deleting.
#include "tests/app/stored_session.h"

#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::ConversationController;
using app::ConversationListModel;
using app::EngineController;
using app::MessageBlockModel;

// One that was not started before, and whose rows are watched.
struct NewSession : Session
{
    explicit NewSession(FakeScript newScript = {}, bool hasModel = true)
        : Session(std::move(newScript))
    {
        if (!hasModel)
            location = { {}, { u"/models"_s } };
        make();
        watchBlocks();
    }

    void watchBlocks()
    {
        blocksTester = std::make_unique<QAbstractItemModelTester>(chat()->blocks());
    }

    bool start() const
    {
        application->start();
        return QTest::qWaitFor(
            [this] { return engine()->state() == EngineController::State::Ready; });
    }

    int lastRow() const { return chat()->blocks()->rowCount() - 1; }

    std::unique_ptr<QAbstractItemModelTester> blocksTester;
};

} // namespace

class ApplicationTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void loadsInStages();
    void saysThatNoModelWasFound();
    void retriesAFailedLoad();
    void streamsAnAnswer();
    void joinsTheTokensOfAFrame();
    void refusesToSendWhileAnswering();
    void keepsWhatWasWrittenWhenStopped();
    void stopsBeforeTheFirstToken();
    void showsAnErrorAndRetries();
    void offersANewConversationWhenTheContextIsFull();
    void regeneratesTheLastAnswer();
    void sendsTheWholeConversation();
    void thinksAsMuchAsAsked();
    void opensTheReasoning();
    void countsTheDraftOnAWorker();
    void answersTwoConversationsInTurn();
    void countsNoAnswerThatHasEnded();
    void deletesAndBringsBack();
    void deletesAConversationThatAnswers();
    void reusesTheEmptyConversation();
    void endsWhileAnswering();
    void endsWhileLoading();
    void neverWaitsForTheEngine();
    void reportsABrokenEngine();
};

void ApplicationTest::loadsInStages()
{
    FakeScript script;
    script.loadStageTime = std::chrono::milliseconds(40);
    NewSession session(std::move(script));
    QCOMPARE(session.engine()->state(), EngineController::State::Looking);
    QVERIFY(!session.chat()->canSend());
    QStringList stages;
    connect(session.engine(), &EngineController::loadProgressed, this,
            [&] { stages << session.engine()->loadStage(); });
    QVERIFY(session.start());
    QVERIFY(stages.contains(u"Reading weights"_s));
    QVERIFY(stages.contains(u"Allocating memory"_s));
    QCOMPARE(session.engine()->modelName(), u"Glimmer"_s);
    QCOMPARE(session.chat()->contextTokens(), 262'144);
    QVERIFY(session.chat()->canSend());
}

void ApplicationTest::streamsAnAnswer()
{
    NewSession session(
        answering("# Maps\n\nA *hash* map.\n\n```py\nx = 1\n```\n", "Let me think."));
    QVERIFY(session.start());
    QSignalSpy answered(session.chat(), &ConversationController::answered);
    session.chat()->send(u"How does a hash map work?"_s);
    QVERIFY(session.chat()->isBusy());
    QVERIFY(!session.chat()->canSend());
    QVERIFY(session.waitIdle());
    QCOMPARE(answered.size(), 1);
    QCOMPARE(answered.front().front().toBool(), true);
    const QList<int> expected { MessageBlockModel::UserText, MessageBlockModel::Thinking,
                                MessageBlockModel::Heading,  MessageBlockModel::Paragraph,
                                MessageBlockModel::Code,     MessageBlockModel::Statistics };
    QCOMPARE(session.types(), expected);
    QCOMPARE(session.value(3, MessageBlockModel::HtmlRole).toString(), u"A <i>hash</i> map."_s);
    QCOMPARE(session.value(4, MessageBlockModel::CodeRole).toString(), u"x = 1"_s);
    QCOMPARE(session.value(4, MessageBlockModel::SourceRole).toString(), u"```py\nx = 1\n```"_s);
    QCOMPARE(session.application->conversations()->rowCount(), 1);
    QCOMPARE(session.chat()->title(), u"How does a hash map work?"_s);
}

void ApplicationTest::saysThatNoModelWasFound()
{
    NewSession session({}, false);
    session.application->start();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::NoModel);
    QVERIFY(session.engine()->errorText().contains(u"/models"_s));
    session.chat()->send(u"hello"_s);
    QVERIFY(session.chat()->isEmpty());
}

void ApplicationTest::retriesAFailedLoad()
{
    FakeScript script;
    script.loadError
        = engine::Error { engine::ErrorCode::BadCheckpoint, "config.json: hidden_size is missing" };
    NewSession session(script);
    session.application->start();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Failed);
    QCOMPARE(session.engine()->errorText(), u"config.json: hidden_size is missing"_s);
    script.loadError.reset();
    session.fake->setScript(script);
    session.engine()->retry();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Ready);
    QVERIFY(session.engine()->errorText().isEmpty());
}

// Everything that arrived since the last frame is one change of the open block.
void ApplicationTest::joinsTheTokensOfAFrame()
{
    NewSession session(answering(std::string(4000, 'x')));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(10);
    QTRY_COMPARE(session.fake->emittedTokens(), 10);
    QTRY_COMPARE(session.types().last(), int(MessageBlockModel::Paragraph));
    QTRY_COMPARE(session.value(session.lastRow(), MessageBlockModel::HtmlRole).toString().size(),
                 40);
    QSignalSpy changed(session.chat()->blocks(), &QAbstractItemModel::dataChanged);
    QSignalSpy inserted(session.chat()->blocks(), &QAbstractItemModel::rowsInserted);
    QSignalSpy removed(session.chat()->blocks(), &QAbstractItemModel::rowsRemoved);
    session.fake->allowTokens(500);
    while (session.fake->emittedTokens() < 510)
        QThread::msleep(1); // the event loop does not run: all of it waits for one frame
    QCOMPARE(changed.size(), 0);
    QTRY_COMPARE(session.value(session.lastRow(), MessageBlockModel::HtmlRole).toString().size(),
                 2040);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(changed.front().at(0).toModelIndex().row(), session.lastRow());
    QCOMPARE(inserted.size() + removed.size(), 0);
    QVERIFY(session.value(session.lastRow(), MessageBlockModel::OpenRole).toBool());
    session.fake->releaseTokens();
    QVERIFY(session.waitIdle());
}

void ApplicationTest::refusesToSendWhileAnswering()
{
    NewSession session(answering("some words that take a while"));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"first"_s);
    session.chat()->send(u"second"_s);
    session.chat()->regenerate();
    QCOMPARE(session.chat()->blocks()->messages().size(), 2U);
    session.fake->releaseTokens();
    QVERIFY(session.waitIdle());
    session.chat()->send(u"   \n"_s);
    QCOMPARE(session.chat()->blocks()->messages().size(), 2U);
}

void ApplicationTest::keepsWhatWasWrittenWhenStopped()
{
    NewSession session(answering(std::string(4000, 'y')));
    QVERIFY(session.start());
    session.fake->holdTokens();
    QSignalSpy answered(session.chat(), &ConversationController::answered);
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(20);
    QTRY_VERIFY(session.types().contains(MessageBlockModel::Paragraph));
    QTRY_COMPARE(session.fake->emittedTokens(), 20);
    session.chat()->stop();
    QVERIFY(session.chat()->isStopping());
    QVERIFY(session.waitIdle());
    QVERIFY(!session.chat()->isStopping());
    QCOMPARE(session.chat()->messageSource(1).size(), 80);
    QVERIFY(session.value(session.lastRow(), MessageBlockModel::StatisticsRole)
                .toString()
                .startsWith(u"Stopped"_s));
    QCOMPARE(answered.front().front().toBool(), false);
}

void ApplicationTest::stopsBeforeTheFirstToken()
{
    FakeScript script;
    script.prefillTime = std::chrono::seconds(30);
    NewSession session(std::move(script));
    QVERIFY(session.start());
    session.chat()->send(u"go"_s);
    session.chat()->stop(); // perhaps before the worker has submitted it
    QVERIFY(session.waitIdle());
    QCOMPARE(session.types().last(), int(MessageBlockModel::Statistics));

    session.chat()->regenerate();
    QTRY_VERIFY(session.value(session.lastRow(), MessageBlockModel::TextRole)
                    .toString()
                    .startsWith(u"Reading"_s));
    session.chat()->stop();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.types(),
             QList<int>({ MessageBlockModel::UserText, MessageBlockModel::Statistics }));
}

void ApplicationTest::showsAnErrorAndRetries()
{
    FakeScript script = answering("fine");
    script.submitError = engine::Error { engine::ErrorCode::QueueFull, "8 requests wait." };
    NewSession session(script);
    QVERIFY(session.start());
    session.chat()->send(u"go"_s);
    QVERIFY(session.waitIdle());
    QCOMPARE(session.types().last(), int(MessageBlockModel::Error));
    QVERIFY(session.value(session.lastRow(), MessageBlockModel::ErrorTextRole)
                .toString()
                .contains(u"8 requests wait."_s));
    QCOMPARE(session.value(session.lastRow(), MessageBlockModel::ErrorActionRole).toString(),
             u"retry"_s);
    script.submitError.reset();
    session.fake->setScript(script);
    session.chat()->retry();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.types(),
             QList<int>({ MessageBlockModel::UserText, MessageBlockModel::Paragraph,
                          MessageBlockModel::Statistics }));
}

void ApplicationTest::offersANewConversationWhenTheContextIsFull()
{
    FakeScript script;
    script.contextTokens = 100;
    NewSession session(std::move(script));
    QVERIFY(session.start());
    session.chat()->send(QString(1000, u'z'));
    QVERIFY(session.waitIdle());
    QCOMPARE(session.value(session.lastRow(), MessageBlockModel::ErrorActionRole).toString(),
             u"newConversation"_s);
}

void ApplicationTest::regeneratesTheLastAnswer()
{
    FakeScript script;
    int calls = 0;
    script.answer = [&calls](const auto &) {
        FakeAnswer answer;
        answer.text = "answer " + std::to_string(++calls);
        return answer;
    };
    NewSession session(std::move(script));
    QVERIFY(session.start());
    session.chat()->send(u"go"_s);
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->messageSource(1), u"answer 1"_s);
    QVERIFY(session.chat()->canRegenerate());
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.chat()->messageSource(1), u"answer 2"_s);
    QCOMPARE(session.chat()->blocks()->messages().size(), 2U);
    QCOMPARE(session.fake->lastMessages().size(), 1U);
}

void ApplicationTest::sendsTheWholeConversation()
{
    NewSession session(answering("It is 4.", "two and two"));
    QVERIFY(session.start());
    session.chat()->send(u"2 + 2?"_s);
    QVERIFY(session.waitIdle());
    session.chat()->send(u"sure?"_s);
    QVERIFY(session.waitIdle());
    const std::vector<engine::Message> sent = session.fake->lastMessages();
    QCOMPARE(sent.size(), 3U);
    QVERIFY(sent[1].role == engine::Role::Assistant);
    QCOMPARE(sent[1].content.front().text, std::string("It is 4."));
    QCOMPARE(sent[1].reasoning.value_or(""), std::string("two and two"));
    QVERIFY(session.chat()->promptTokens() > 0);
}

void ApplicationTest::thinksAsMuchAsAsked()
{
    NewSession session;
    QVERIFY(session.start());
    QCOMPARE(session.chat()->thinkingEffort(), ConversationController::Low);
    session.chat()->send(u"go"_s);
    QVERIFY(session.waitIdle());
    QVERIFY(session.fake->lastOptions().thinking);
    QVERIFY(session.fake->lastOptions().effort == engine::ReasoningEffort::Low);
    session.chat()->setThinkingEffort(ConversationController::Off);
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    QVERIFY(!session.fake->lastOptions().thinking);
    QVERIFY(!session.types().contains(MessageBlockModel::Thinking));
}

void ApplicationTest::opensTheReasoning()
{
    NewSession session(answering("done", "one line\n" + std::string(9000, 't') + "\nlast"));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(100);
    QTRY_COMPARE(session.types().last(), int(MessageBlockModel::Thinking));
    QVERIFY(session.value(1, MessageBlockModel::ThinkingLiveRole).toBool());
    session.chat()->blocks()->setExpanded(1, true);
    QTRY_COMPARE(session.value(1, MessageBlockModel::TokenCountRole).toInt(), 100);
    QCOMPARE(session.types().last(), int(MessageBlockModel::ThinkingText));
    session.fake->releaseTokens();
    QVERIFY(session.waitIdle());
    QVERIFY(!session.value(1, MessageBlockModel::ThinkingLiveRole).toBool());
    QString shown;
    for (int row = 2; session.types().at(row) == MessageBlockModel::ThinkingText; ++row)
        shown += session.value(row, MessageBlockModel::TextRole).toString();
    QCOMPARE(shown.count(u't'), 9000 + 1); // of "last"
    session.chat()->blocks()->setExpanded(1, false);
    QCOMPARE(session.types(),
             QList<int>({ MessageBlockModel::UserText, MessageBlockModel::Thinking,
                          MessageBlockModel::Paragraph, MessageBlockModel::Statistics }));
    QCOMPARE(session.chat()->title(), u"go"_s);
}

void ApplicationTest::countsTheDraftOnAWorker()
{
    NewSession session;
    QVERIFY(session.start());
    for (int length = 1; length <= 40; ++length)
        session.chat()->setDraft(QString(length, u'd')); // typing faster than the debounce
    QTRY_COMPARE(session.chat()->draftTokens(), 10);
    QCOMPARE(session.fake->countedTexts(), 1);
    session.chat()->send(session.chat()->draft());
    QCOMPARE(session.chat()->draftTokens(), 0);
    QVERIFY(session.chat()->draft().isEmpty());
    QVERIFY(session.waitIdle());
}

// The engine tells the end of an answer before it stops counting it.
void ApplicationTest::countsNoAnswerThatHasEnded()
{
    FakeScript script = answering("an answer");
    script.endTime = std::chrono::milliseconds(300);
    NewSession session(script);
    QVERIFY(session.start());
    session.chat()->send(u"How?"_s);
    QVERIFY(session.waitIdle());
    QTRY_COMPARE(session.engine()->runningRequests(), 0);
    QVERIFY(session.application->benchmark()->isAvailable());
}

void ApplicationTest::answersTwoConversationsInTurn()
{
    NewSession session(answering("an answer"));
    QVERIFY(session.start());
    session.fake->holdTokens();
    ConversationController *first = session.chat();
    first->send(u"first question"_s);
    QTRY_COMPARE(session.engine()->runningRequests(), 1);
    session.application->newConversation();
    session.watchBlocks();
    ConversationController *second = session.chat();
    QVERIFY(first != second);
    second->send(u"second question"_s);
    QTRY_VERIFY(session.value(session.lastRow(), MessageBlockModel::TextRole)
                    .toString()
                    .contains(u"Preparing"_s));
    ConversationListModel *list = session.application->conversations();
    QCOMPARE(list->rowCount(), 2);
    QCOMPARE(list->index(0, 0).data(ConversationListModel::TitleRole).toString(),
             u"second question"_s);
    QVERIFY(list->index(0, 0).data(ConversationListModel::ActiveRole).toBool());
    QVERIFY(list->index(1, 0).data(ConversationListModel::BusyRole).toBool());
    session.fake->releaseTokens();
    QTRY_VERIFY(!first->isBusy() && !second->isBusy());
    QCOMPARE(first->messageSource(1), u"an answer"_s);
    QCOMPARE(second->messageSource(1), u"an answer"_s);
    session.application->openConversation(1);
    QCOMPARE(session.chat(), first);
    first->send(u"more"_s); // moves to the top
    QCOMPARE(list->activeRow(), 0);
    QTRY_VERIFY(!first->isBusy());
}

void ApplicationTest::deletesAndBringsBack()
{
    NewSession session(answering("x"));
    QVERIFY(session.start());
    session.chat()->send(u"keep me"_s);
    QVERIFY(session.waitIdle());
    ConversationController *conversation = session.chat();
    session.application->renameConversation(0, u"  My   chat "_s);
    QCOMPARE(conversation->title(), u"My chat"_s);
    session.application->deleteConversation(0);
    QCOMPARE(session.application->conversations()->rowCount(), 0);
    QVERIFY(session.chat() != conversation);
    QVERIFY(session.chat()->isEmpty());
    QVERIFY(session.application->canUndoDelete());
    QCOMPARE(session.application->deletedTitle(), u"My chat"_s);
    session.application->undoDelete();
    QCOMPARE(session.chat(), conversation);
    QCOMPARE(session.application->conversations()->rowCount(), 1);
    QVERIFY(!session.application->canUndoDelete());
    session.application->deleteConversation(7); // no such row
    session.application->openConversation(-1);
    QCOMPARE(session.chat(), conversation);
}

void ApplicationTest::deletesAConversationThatAnswers()
{
    NewSession session(answering(std::string(4000, 'x')));
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.chat()->send(u"go"_s);
    session.fake->allowTokens(3);
    QTRY_COMPARE(session.fake->emittedTokens(), 3);
    session.application->deleteConversation(0);
    QTRY_COMPARE(session.fake->stats().runningRequests, 0);
    session.application->undoDelete();
    QTRY_VERIFY(!session.chat()->isBusy());
}

void ApplicationTest::reusesTheEmptyConversation()
{
    NewSession session;
    QVERIFY(session.start());
    ConversationController *empty = session.chat();
    session.application->newConversation();
    QCOMPARE(session.chat(), empty);
    QCOMPARE(session.application->conversations()->rowCount(), 0);
    QCOMPARE(session.application->conversations()->activeRow(), -1);
}

void ApplicationTest::endsWhileAnswering()
{
    NewSession session(answering(std::string(100'000, 'x'), std::string(1000, 't')));
    QVERIFY(session.start());
    session.chat()->send(u"go"_s);
    QTRY_VERIFY(session.fake->emittedTokens() > 10);
    session.blocksTester.reset();
    session.tester.reset();
    session.application.reset(); // cancels, joins and leaves nothing behind
}

void ApplicationTest::endsWhileLoading()
{
    FakeScript script;
    script.loadStageTime = std::chrono::seconds(30);
    NewSession session(std::move(script));
    session.application->start();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Loading);
    session.blocksTester.reset();
    session.tester.reset();
    session.application.reset();
}

// A worker that prepares for seconds must not be felt.
void ApplicationTest::neverWaitsForTheEngine()
{
    FakeScript script;
    script.answer = [](const auto &) {
        QThread::msleep(400);
        FakeAnswer answer;
        answer.text = "late";
        return answer;
    };
    NewSession session(std::move(script));
    QVERIFY(session.start());
    QElapsedTimer clock;
    clock.start();
    session.chat()->send(u"go"_s);
    session.chat()->stop();
    QVERIFY(clock.elapsed() < 200);
    QVERIFY(session.waitIdle());
}

void ApplicationTest::reportsABrokenEngine()
{
    FakeScript script;
    script.answer = [](const auto &) {
        FakeAnswer answer;
        answer.text = "half an ";
        answer.failure = engine::Error { engine::ErrorCode::Internal, "a kernel failed" };
        return answer;
    };
    NewSession session(std::move(script));
    QVERIFY(session.start());
    session.chat()->send(u"go"_s);
    QVERIFY(session.waitIdle());
    QCOMPARE(session.engine()->state(), EngineController::State::Failed);
    QCOMPARE(session.chat()->messageSource(1), u"half an "_s);
    QCOMPARE(session.value(session.lastRow(), MessageBlockModel::ErrorActionRole).toString(),
             u"reloadModel"_s);
    session.chat()->retry();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Ready);
    QVERIFY(session.chat()->canRegenerate());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::ApplicationTest)
#include "tst_application.moc"
