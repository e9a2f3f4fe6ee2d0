// SPDX-License-Identifier: MIT
//
// The tree of a conversation as the window shows it: answers made again, messages edited, the way
// between versions, and the tokens of each that go back to the model.
#include "tests/app/stored_session.h"

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::MessageBlockModel;
using app::RecordId;

// Numbers its answers.
struct NumberedSession : Session
{
    NumberedSession()
    {
        script.answer = [this](const auto &) {
            FakeAnswer answer;
            answer.text = "answer " + std::to_string(++answers);
            answer.thinking = "thought " + std::to_string(answers);
            return answer;
        };
    }

    QStringList texts() const
    {
        QStringList all;
        for (const app::ShownMessage &message : chat()->blocks()->messages())
            all << QString::fromStdString(message.text);
        return all;
    }
    int lastRow(int message) const
    {
        const app::ShownMessage &shown
            = chat()->blocks()->messages()[static_cast<std::size_t>(message)];
        return shown.firstRow + shown.rows - 1;
    }
    QString version(int message) const
    {
        return u"%1/%2"_s.arg(value(lastRow(message), MessageBlockModel::VersionRole).toString(),
                              value(lastRow(message), MessageBlockModel::VersionsRole).toString());
    }
    bool step(int message, int by)
    {
        chat()->switchVersion(lastRow(message), by);
        return waitIdle();
    }
    bool edit(int message, const QString &text)
    {
        chat()->beginEdit(chat()->blocks()->messages()[static_cast<std::size_t>(message)].firstRow);
        return say(text);
    }

    int answers = 0;
};

} // namespace

class MessageVersionsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anAnswerMadeAgainIsAnotherVersion();
    void anEditedMessageIsAnotherVersion();
    void versionsSurviveARestart();
    void rowsBeforeAVersionStay();
    void anEarlierAnswerCanBeMadeAgain();
    void nothingIsSwitchedWhileAnAnswerIsMade();
    void anEditCanBeLeft();
    void anEditEndsWithItsMessage();
    void aVersionThatIsNotStoredLeavesWhatIsShown();
    void tokensGoBackToTheModelThatWroteThem();
};

void MessageVersionsTest::anAnswerMadeAgainIsAnotherVersion()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"go"_s));
    const QAbstractItemModelTester blocks(session.chat()->blocks());
    QCOMPARE(session.version(1), u"1/1"_s);
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    session.chat()->regenerateAt(session.lastRow(1));
    QVERIFY(session.waitIdle());
    QCOMPARE(session.texts(), QStringList({ u"go"_s, u"answer 3"_s }));
    QCOMPARE(session.version(1), u"3/3"_s);
    QCOMPARE(session.version(0), u"1/1"_s);
    QVERIFY(session.step(1, -2));
    QCOMPARE(session.texts(), QStringList({ u"go"_s, u"answer 1"_s }));
    QCOMPARE(session.version(1), u"1/3"_s);
    QVERIFY(session.step(1, -1)); // there is none
    QVERIFY(session.step(1, 3));
    QCOMPARE(session.version(1), u"1/3"_s);
}

void MessageVersionsTest::anEditedMessageIsAnotherVersion()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    QVERIFY(session.say(u"two"_s));
    const QAbstractItemModelTester blocks(session.chat()->blocks());
    QVERIFY(session.edit(0, u"eins"_s));
    QCOMPARE(session.texts(), QStringList({ u"eins"_s, u"answer 3"_s }));
    QCOMPARE(session.fake->lastMessages().size(), 1U);
    QCOMPARE(session.version(0), u"2/2"_s);
    QVERIFY(session.say(u"zwei"_s));
    QVERIFY(session.step(0, -1));
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 1"_s, u"two"_s, u"answer 2"_s }));
    QVERIFY(session.edit(2, u"three"_s));
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 1"_s, u"three"_s, u"answer 5"_s }));
    QCOMPARE(session.version(2), u"2/2"_s);
    QVERIFY(session.step(0, 1)); // the branch with all that followed
    QCOMPARE(session.texts(), QStringList({ u"eins"_s, u"answer 3"_s, u"zwei"_s, u"answer 4"_s }));
    QCOMPARE(session.chat()->title(), u"one"_s);
}

void MessageVersionsTest::versionsSurviveARestart()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"go"_s));
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    QVERIFY(session.edit(0, u"go on"_s));
    QVERIFY(session.step(0, -1));
    QVERIFY(session.step(1, -1));
    QCOMPARE(session.texts(), QStringList({ u"go"_s, u"answer 1"_s }));
    for (int restart = 0; restart < 2; ++restart) {
        QVERIFY(session.start());
        QVERIFY(session.open(0));
        QCOMPARE(session.texts(), QStringList({ u"go"_s, u"answer 1"_s }));
        QCOMPARE(session.version(0), u"1/2"_s);
        QCOMPARE(session.version(1), u"1/2"_s);
    }
    QVERIFY(session.step(0, 1));
    QCOMPARE(session.texts(), QStringList({ u"go on"_s, u"answer 3"_s }));
}

void MessageVersionsTest::rowsBeforeAVersionStay()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    QVERIFY(session.say(u"two"_s));
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    MessageBlockModel &model = *session.chat()->blocks();
    const QAbstractItemModelTester blocks(&model);
    model.setExpanded(1, true); // of the first answer
    const int kept = model.messages()[3].firstRow;
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    QSignalSpy removals(&model, &QAbstractItemModel::rowsRemoved);
    QVERIFY(session.step(3, -1));
    QCOMPARE(resets.size(), 0);
    QCOMPARE(removals.size(), 1);
    QCOMPARE(removals.front()[1].toInt(), kept);
    QCOMPARE(session.value(2, MessageBlockModel::TextRole).toString(), u"thought 1"_s);
    QCOMPARE(session.texts().last(), u"answer 2"_s);
    QCOMPARE(session.value(kept, MessageBlockModel::BlockTypeRole).toInt(),
             int(MessageBlockModel::Thinking));
    model.setExpanded(kept, true);
    QCOMPARE(session.value(kept + 1, MessageBlockModel::TextRole).toString(), u"thought 2"_s);
}

void MessageVersionsTest::anEarlierAnswerCanBeMadeAgain()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    QVERIFY(session.say(u"two"_s));
    session.chat()->regenerateAt(0); // the person's
    QVERIFY(!session.chat()->isBusy());
    session.chat()->regenerateAt(session.lastRow(1));
    QVERIFY(session.waitIdle());
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 3"_s }));
    QVERIFY(session.step(1, -1));
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 1"_s, u"two"_s, u"answer 2"_s }));
}

void MessageVersionsTest::nothingIsSwitchedWhileAnAnswerIsMade()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    session.fake->holdTokens();
    session.chat()->send(u"two"_s);
    session.chat()->switchVersion(session.lastRow(1), -1);
    session.chat()->beginEdit(0);
    session.chat()->regenerateAt(session.lastRow(1));
    QVERIFY(!session.chat()->isLoading());
    QVERIFY(!session.chat()->isEditing());
    session.fake->releaseTokens();
    QVERIFY(session.waitIdle());
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 2"_s, u"two"_s, u"answer 3"_s }));
}

void MessageVersionsTest::anEditCanBeLeft()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    QVERIFY(session.say(u"two"_s));
    app::ConversationController &chat = *session.chat();
    chat.setDraft(u"half a thought"_s);
    QSignalSpy edits(&chat, &app::ConversationController::editingChanged);
    chat.beginEdit(session.lastRow(1)); // not the person's
    QVERIFY(!chat.isEditing());
    chat.beginEdit(0);
    QCOMPARE(chat.draft(), u"one"_s);
    chat.beginEdit(chat.blocks()->messages()[2].firstRow); // another one instead
    QCOMPARE(chat.draft(), u"two"_s);
    QCOMPARE(edits.size(), 2);
    chat.setDraft(u"zwei"_s);
    chat.cancelEdit();
    QVERIFY(!chat.isEditing());
    QCOMPARE(chat.draft(), u"half a thought"_s);
    chat.cancelEdit();
    QCOMPARE(edits.size(), 3);
    QVERIFY(session.say(u"half a thought"_s));
    QCOMPARE(session.texts().size(), 6);
    // What was being written before comes back when the edit is sent, too.
    chat.setDraft(u"another"_s);
    QVERIFY(session.edit(0, u"eins"_s));
    QCOMPARE(chat.draft(), u"another"_s);
}

void MessageVersionsTest::anEditEndsWithItsMessage()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    QVERIFY(session.say(u"two"_s));
    app::ConversationController &chat = *session.chat();
    chat.beginEdit(chat.blocks()->messages()[2].firstRow);
    QVERIFY(chat.isEditing());
    chat.regenerateAt(session.lastRow(1)); // "two" is on another branch now
    QVERIFY(!chat.isEditing());
    QCOMPARE(chat.draft(), QString());
    QVERIFY(session.waitIdle());
    chat.beginEdit(0);
    QVERIFY(session.step(1, -1));
    QVERIFY(chat.isEditing()); // "one" is on both
    chat.beginEdit(chat.blocks()->messages()[2].firstRow);
    QVERIFY(session.step(1, 1));
    QVERIFY(!chat.isEditing());
}

void MessageVersionsTest::aVersionThatIsNotStoredLeavesWhatIsShown()
{
    NumberedSession session;
    app::DatabaseThread first(session.file());
    QTRY_COMPARE(first.state(), app::DatabaseThread::State::Ready);
    QVERIFY(session.start());
    QTRY_COMPARE(session.application->database()->state(), app::DatabaseThread::State::InUse);
    QVERIFY(session.say(u"one"_s));
    session.chat()->regenerate();
    QVERIFY(session.waitIdle());
    QVERIFY(session.step(1, -1));
    QCOMPARE(session.texts(), QStringList({ u"one"_s, u"answer 2"_s }));
    QCOMPARE(session.chat()->loadError(), QString());
    QVERIFY(session.say(u"two"_s));
    QCOMPARE(session.texts().size(), 4);
    session.stop();
}

void MessageVersionsTest::tokensGoBackToTheModelThatWroteThem()
{
    NumberedSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"one"_s));
    const auto lastReply = [&session] {
        const std::vector<engine::Message> messages = session.fake->lastMessages();
        return messages.size() == 3 ? messages[1] : engine::Message {};
    };
    const auto tokens = session.chat()->blocks()->messages()[1].tokens;
    QVERIFY(tokens && !tokens->empty());
    QVERIFY(session.say(u"two"_s));
    QCOMPARE(lastReply().tokens, tokens);
    QVERIFY(!session.fake->lastMessages()[0].tokens.has_value());

    QVERIFY(session.start()); // from the disk
    QVERIFY(session.open(0));
    QVERIFY(session.edit(2, u"zwei"_s));
    QCOMPARE(lastReply().tokens, tokens);

    session.script.vocabulary = "another";
    QVERIFY(session.start());
    QVERIFY(session.open(0));
    QVERIFY(session.edit(2, u"three"_s));
    QVERIFY(!lastReply().tokens.has_value());
    QCOMPARE(lastReply().content.front().text, std::string("answer 1"));
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::MessageVersionsTest)
#include "tst_message_versions.moc"
