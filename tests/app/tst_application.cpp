// SPDX-License-Identifier: MIT
//
// The whole C++ side of the window over a scripted engine: loading, streaming, stopping, failing,
// deleting.
#include "app/application.h"
#include "tests/support/fake_engine.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::Application;
using app::ApplicationSetup;
using app::ConversationController;
using app::ConversationListModel;
using app::EngineController;
using app::MessageBlockModel;
using app::ModelLocation;

// An application on a scripted engine, which the application owns and the test still sees.
struct Session
{
    explicit Session(FakeScript script = {}, bool hasModel = true)
    {
        auto engine = std::make_unique<FakeEngine>(std::move(script));
        fake = engine.get();
        ApplicationSetup setup;
        setup.settingsFile = folder.filePath(u"settings.ini"_s);
        setup.engine.findModel = [hasModel] {
            return hasModel ? ModelLocation { "/models/glimmer", {} }
                            : ModelLocation { {}, { u"/models"_s } };
        };
        application = std::make_unique<Application>(std::move(engine), std::move(setup));
        listTester = std::make_unique<QAbstractItemModelTester>(application->conversations());
        watchBlocks();
    }

    void watchBlocks()
    {
        blocksTester = std::make_unique<QAbstractItemModelTester>(chat()->blocks());
    }

    bool start()
    {
        application->start();
        return QTest::qWaitFor(
            [this] { return engine()->state() == EngineController::State::Ready; });
    }

    bool waitIdle() const
    {
        return QTest::qWaitFor([this] { return !chat()->isBusy(); });
    }

    ConversationController *chat() const { return application->conversation(); }
    EngineController *engine() const { return application->engine(); }
    QVariant value(int row, int role) const { return chat()->blocks()->index(row, 0).data(role); }
    QList<int> types() const
    {
        QList<int> all;
        for (int row = 0; row < chat()->blocks()->rowCount(); ++row)
            all << value(row, MessageBlockModel::BlockTypeRole).toInt();
        return all;
    }
    int lastRow() const { return chat()->blocks()->rowCount() - 1; }

    QTemporaryDir folder;
    FakeEngine *fake = nullptr;
    std::unique_ptr<Application> application;
    std::unique_ptr<QAbstractItemModelTester> listTester;
    std::unique_ptr<QAbstractItemModelTester> blocksTester;
};

FakeScript answering(std::string text, std::string thinking = {})
{
    FakeScript script;
    script.answer = [text = std::move(text), thinking = std::move(thinking)](const auto &) {
        FakeAnswer answer;
        answer.text = text;
        answer.thinking = thinking;
        return answer;
    };
    return script;
}

} // namespace

class ApplicationTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void loadsInStages();
    void streamsAnAnswer();
};

void ApplicationTest::loadsInStages()
{
    FakeScript script;
    script.loadStageTime = std::chrono::milliseconds(40);
    Session session(std::move(script));
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
    Session session(answering("# Maps\n\nA *hash* map.\n\n```py\nx = 1\n```\n", "Let me think."));
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

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::ApplicationTest)
#include "tst_application.moc"
