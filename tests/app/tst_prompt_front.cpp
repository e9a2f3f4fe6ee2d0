// SPDX-License-Identifier: MIT
//
// What a person is told before a whole chat is read again.
#include "tests/app/stored_session.h"

#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::ConversationController;
using app::PromptFront;
using app::rereadText;
using enum engine::ReasoningEffort;

} // namespace

class PromptFrontTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tellsTokensAndSeconds();
    void isSilentInAnEmptyChat();
    void isToldBeforeTheNextAnswerOnly();
    void thinkingOffAndLowBeginAlike();
    void concernsTheSystemPromptToo();
    void anEditReadsLessThanTheWholeChat();
    void isToldOfAChatFromBefore();
    void theSpeedIsOfALongPrompt();
};

void PromptFrontTest::tellsTokensAndSeconds()
{
    const PromptFront low { Low, {} };
    const PromptFront high { High, {} };
    const PromptFront pirate { Low, u"Talk like a pirate."_s };
    QVERIFY(rereadText(low, low, 1000, 100).isEmpty());
    QCOMPARE(rereadText(low, high, 31'200, 400),
             u"Thinking was changed: the whole chat is read again for the next answer. "
             "31,200 tokens, about 78 s."_s);
    QVERIFY(rereadText(low, high, 90, 100).endsWith(u" 90 tokens, less than a second."_s));
    QVERIFY(rereadText(low, high, 90, std::nullopt).endsWith(u" 90 tokens."_s));
    QVERIFY(rereadText(low, high, 90, 0.0).endsWith(u" 90 tokens."_s));
    QVERIFY(rereadText(low, high, 0, 100).endsWith(u"for the next answer."_s));
    QVERIFY(rereadText(low, pirate, 90, 100).startsWith(u"The system prompt was changed"_s));
}

void PromptFrontTest::isSilentInAnEmptyChat()
{
    Session session;
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Max);
    session.chat()->setThinkingEffort(ConversationController::Low);
    QVERIFY(session.chat()->rereadText().isEmpty());
}

void PromptFrontTest::isToldBeforeTheNextAnswerOnly()
{
    Session session;
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Low);
    QVERIFY(session.say(u"What is a hash map?"_s));
    QVERIFY(session.chat()->rereadText().isEmpty());
    QSignalSpy told(session.chat(), &ConversationController::rereadTextChanged);
    session.chat()->setThinkingEffort(ConversationController::Max);
    QVERIFY(!told.isEmpty());
    const QString tokens = QLocale().toString(session.chat()->promptTokens());
    QVERIFY2(session.chat()->rereadText().contains(tokens + u" tokens"_s),
             qPrintable(session.chat()->rereadText()));
    session.chat()->setThinkingEffort(ConversationController::Low); // as it was
    QVERIFY(session.chat()->rereadText().isEmpty());
    session.chat()->setThinkingEffort(ConversationController::High);
    QVERIFY(!session.chat()->rereadText().isEmpty());
    QVERIFY(session.say(u"And a tree?"_s));
    QVERIFY(session.chat()->rereadText().isEmpty());
}

// "Off" ends the thinking where the answer begins; the front stays.
void PromptFrontTest::thinkingOffAndLowBeginAlike()
{
    Session session;
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Low);
    QVERIFY(session.say(u"What is a hash map?"_s));
    session.chat()->setThinkingEffort(ConversationController::Off);
    QVERIFY(session.chat()->rereadText().isEmpty());
}

void PromptFrontTest::concernsTheSystemPromptToo()
{
    Session session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"What is a hash map?"_s));
    app::ParameterListModel &parameters = *session.chat()->options()->parameters();
    const int row = static_cast<int>(app::RequestParameter::SystemPrompt);
    parameters.setText(row, u"Talk like a pirate."_s);
    QVERIFY(session.chat()->rereadText().startsWith(u"The system prompt was changed"_s));
    parameters.reset(row);
    QVERIFY(session.chat()->rereadText().isEmpty());
}

void PromptFrontTest::anEditReadsLessThanTheWholeChat()
{
    Session session;
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Low);
    QVERIFY(session.say(u"What is a hash map?"_s));
    session.chat()->setThinkingEffort(ConversationController::High);
    session.chat()->beginEdit(0);
    QVERIFY(session.chat()->isEditing());
    QVERIFY(session.chat()->rereadText().endsWith(u"for the next answer."_s));
    session.chat()->cancelEdit();
    QVERIFY(session.chat()->rereadText().contains(u" tokens"_s));
}

void PromptFrontTest::isToldOfAChatFromBefore()
{
    Session session;
    QVERIFY(session.start());
    session.chat()->setThinkingEffort(ConversationController::Low);
    QVERIFY(session.say(u"What is a hash map?"_s));
    const int tokens = session.chat()->promptTokens();
    QVERIFY(session.start());
    session.application->openConversation(0);
    QVERIFY(session.waitIdle());
    QVERIFY(session.chat()->rereadText().isEmpty());
    session.chat()->setThinkingEffort(ConversationController::Max);
    // Nothing was read since the start, so nothing tells how long it takes.
    QVERIFY(session.chat()->rereadText().endsWith(QLocale().toString(tokens) + u" tokens."_s));
}

void PromptFrontTest::theSpeedIsOfALongPrompt()
{
    FakeScript script;
    script.prefillTime = std::chrono::milliseconds(20);
    Session session(script);
    QVERIFY(session.start());
    QVERIFY(!session.engine()->readingSpeed());
    QVERIFY(session.say(u"Hi"_s));
    QVERIFY(!session.engine()->readingSpeed()); // too few tokens to tell
    QVERIFY(session.say(u"word "_s.repeated(400)));
    const auto speed = session.engine()->readingSpeed();
    QVERIFY(speed);
    QVERIFY(*speed > 0);
    session.application->newConversation();
    QVERIFY(session.say(u"word "_s.repeated(100)));
    QCOMPARE(session.engine()->readingSpeed(), speed); // a shorter one tells less
    session.chat()->setThinkingEffort(ConversationController::Max);
    QVERIFY(session.chat()->rereadText().contains(u"second"_s)
            || session.chat()->rereadText().endsWith(u" s."_s));
    session.engine()->reload();
    QTRY_VERIFY(!session.engine()->readingSpeed()); // another model, or other settings
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::PromptFrontTest)

#include "tst_prompt_front.moc"
