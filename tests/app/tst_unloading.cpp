// SPDX-License-Identifier: MIT
//
// An application without a model by choice: a load that is stopped, a model that is unloaded, a
// start after a crash.
#include "tests/app/stored_session.h"

#include <QTest>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::EngineController;

} // namespace

class UnloadingTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopsALoad();
    void unloadsAndLoadsAgain();
    void afterACrashLoadsNothingByItself();
};

void UnloadingTest::stopsALoad()
{
    FakeScript script;
    script.loadStageTime = std::chrono::minutes(5);
    Session session(script);
    session.make();
    session.application->start();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Loading);
    session.engine()->unload();
    QCOMPARE(session.engine()->state(), EngineController::State::Unloaded);
    QVERIFY(!session.engine()->errorText().isEmpty());
    // The end of the stopped load, which comes later, changes nothing.
    QTRY_COMPARE(session.fake->stats().state, engine::EngineStats::State::Empty);
    QTest::qWait(50);
    QCOMPARE(session.engine()->state(), EngineController::State::Unloaded);
    script.loadStageTime = {};
    session.fake->setScript(script);
    session.engine()->retry();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Ready);
}

void UnloadingTest::unloadsAndLoadsAgain()
{
    Session session;
    QVERIFY(session.start());
    session.fake->holdTokens();
    session.fake->allowTokens(2);
    session.chat()->send(u"How?"_s);
    QTRY_COMPARE(session.fake->emittedTokens(), 2);
    session.engine()->unload();
    QVERIFY(session.waitIdle()); // the answer ends, what was written stays
    QVERIFY(!session.chat()->canSend());
    QCOMPARE(session.engine()->state(), EngineController::State::Unloaded);
    session.fake->releaseTokens();
    session.engine()->retry();
    QTRY_VERIFY(session.chat()->canSend());
}

void UnloadingTest::afterACrashLoadsNothingByItself()
{
    Session session;
    session.isAfterCrash = true;
    session.make();
    session.application->start();
    QCOMPARE(session.engine()->state(), EngineController::State::Unloaded);
    QVERIFY(session.engine()->errorText().contains(u"did not end properly"_s));
    QTest::qWait(100);
    QCOMPARE(session.fake->stats().state, engine::EngineStats::State::Empty);
    session.engine()->retry();
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Ready);
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::UnloadingTest)

#include "tst_unloading.moc"
