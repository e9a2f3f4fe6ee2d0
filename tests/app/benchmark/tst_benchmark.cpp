// SPDX-License-Identifier: MIT
//
// The benchmark over a scripted engine: what it asks, how figures are computed, what it says.
#include "app/benchmark/benchmark_controller.h"
#include "tests/support/fake_engine.h"

#include <QSet>
#include <QTest>
#include <QUrl>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::BenchmarkController;
using app::EngineController;

class BenchmarkTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void computesSpeeds();
    void asksTheSameEveryTime();
    void knowsThePublishedFigures();
    void measures();
    void saysWhenColumnsDoNotCompare_data();
    void saysWhenColumnsDoNotCompare();
    void needsAModelThatIsIdle();
    void stops();
    void saysWhatFailed();

private:
    void open(FakeScript script);

    std::unique_ptr<FakeEngine> m_engine;
    std::unique_ptr<EngineController> m_controller;
    std::unique_ptr<BenchmarkController> m_benchmark;
};

void BenchmarkTest::open(FakeScript script)
{
    m_benchmark.reset();
    m_controller.reset();
    m_engine = std::make_unique<FakeEngine>(std::move(script));
    app::EngineSetup setup;
    setup.findModel = [] { return app::ModelLocation { "/models/glimmer", {} }; };
    m_controller = std::make_unique<EngineController>(*m_engine, setup);
    m_benchmark = std::make_unique<BenchmarkController>(*m_controller);
}

void BenchmarkTest::computesSpeeds()
{
    engine::Finished finished;
    QVERIFY(!app::readingSpeed(finished));
    QVERIFY(!app::writingSpeed(finished));
    finished.usage = { 1200, 200, 101, 0 };
    finished.timings = { 0.5, 2.0, 2.1, 4.0 };
    QCOMPARE(*app::readingSpeed(finished), 500.0); // what was reused was not read
    QCOMPARE(*app::writingSpeed(finished), 25.0); // the first token is prefill's
    finished.usage.cachedTokens = 1200;
    QVERIFY(!app::readingSpeed(finished));
    finished.usage.completionTokens = 1;
    QVERIFY(!app::writingSpeed(finished));
}

void BenchmarkTest::asksTheSameEveryTime()
{
    const auto one = app::benchmarkTasks(1);
    const auto other = app::benchmarkTasks(2);
    QCOMPARE(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        QVERIFY(!one[i].name.isEmpty());
        QVERIFY(one[i].maxTokens > 1);
        // But no prompt that is long enough to be worth keeping begins like one of before.
        const bool isLong = one[i].figure == app::BenchmarkTask::Figure::Reading;
        QCOMPARE(one[i].prompt == other[i].prompt, !isLong);
        QVERIFY(!isLong || one[i].prompt.size() > 5000);
    }
}

void BenchmarkTest::knowsThePublishedFigures()
{
    QSet<QString> ids;
    for (const auto &figure : app::publishedFigures()) {
        ids << figure.id;
        QVERIFY(figure.value > 0);
        QVERIFY(figure.unit == u"tok/s"_s || figure.unit == u"s"_s);
        QVERIFY(QUrl(figure.url).isValid());
        QVERIFY(QDate::fromString(figure.date, Qt::ISODate).isValid());
    }
    // One for each figure of the benchmark, and no other.
    QSet<QString> measured { u"firstToken"_s };
    for (const auto &task : app::benchmarkTasks(1)) {
        if (task.figure != app::BenchmarkTask::Figure::WarmUp)
            measured << task.id;
    }
    QCOMPARE(ids, measured);
}

void BenchmarkTest::measures()
{
    FakeScript script;
    script.prefillTime = std::chrono::milliseconds(5);
    script.tokensPerSecond = 500;
    script.answer
        = [](const auto &) { return FakeAnswer { {}, "One two three four five.", {}, {} }; };
    open(script);
    m_controller->retry();
    QTRY_VERIFY(m_benchmark->isAvailable());
    QVERIFY(!m_benchmark->isMeasured());
    for (const auto &row : m_benchmark->rows())
        QVERIFY(row.own.isEmpty() && !row.published.isEmpty() && !row.source.isEmpty());
    QStringList stages;
    double last = 0;
    connect(m_benchmark.get(), &BenchmarkController::changed, this, [&] {
        if (!m_benchmark->isRunning())
            return;
        if (stages.isEmpty() || stages.last() != m_benchmark->stage())
            stages << m_benchmark->stage();
        QVERIFY(m_benchmark->fraction() >= last); // it never goes back
        last = m_benchmark->fraction();
    });
    m_benchmark->start();
    QVERIFY(m_benchmark->isRunning());
    QVERIFY(!m_benchmark->isAvailable());
    QTRY_VERIFY(!m_benchmark->isRunning());
    QCOMPARE(m_benchmark->problem(), QString());
    QCOMPARE(stages.size(), qsizetype(app::benchmarkTasks(1).size()));
    QVERIFY(m_benchmark->isMeasured());
    for (const auto &row : m_benchmark->rows())
        QVERIFY2(!row.own.isEmpty(), qPrintable(row.name));
    // Thinking off, and through the interface of any chat.
    QVERIFY(!m_engine->lastOptions().thinking);
    QVERIFY(m_benchmark->subject().startsWith(u"Glimmer on"_s));
    const QString text = m_benchmark->resultText();
    QCOMPARE(text.count(u'\n'), m_benchmark->rows().size());
    QVERIFY(text.contains(u"github"_s) || text.contains(u"glm-5.3-one-spark"_s));
    // Again: the figures of before are gone until there are new ones.
    m_benchmark->disconnect(this);
    m_benchmark->start();
    QVERIFY(m_benchmark->rows().first().own.isEmpty());
    QTRY_VERIFY(!m_benchmark->isRunning());
}

void BenchmarkTest::saysWhenColumnsDoNotCompare_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("backend");
    QTest::addColumn<bool>("compares");
    QTest::newRow("another model") << u"Glimmer"_s << u"NVIDIA GB10"_s << false;
    QTest::newRow("another machine") << u"GLM-5.3-Flash"_s << u"CPU (2 threads)"_s << false;
    QTest::newRow("the same") << u"GLM-5.3-Flash"_s << u"NVIDIA GB10"_s << true;
}

void BenchmarkTest::saysWhenColumnsDoNotCompare()
{
    QFETCH(const QString, model);
    QFETCH(const QString, backend);
    QFETCH(const bool, compares);
    FakeScript script;
    script.modelName = model.toStdString();
    script.backend = backend.toStdString();
    open(script);
    m_controller->retry();
    QTRY_VERIFY(m_benchmark->isAvailable());
    m_benchmark->start();
    QTRY_VERIFY(!m_benchmark->isRunning());
    QCOMPARE(m_benchmark->note().contains(u"cannot be compared"_s), !compares);
}

void BenchmarkTest::needsAModelThatIsIdle()
{
    open({});
    QVERIFY(!m_benchmark->isAvailable());
    m_benchmark->start();
    QVERIFY(!m_benchmark->isRunning());
    m_controller->retry();
    QTRY_VERIFY(m_benchmark->isAvailable());
    m_engine->holdTokens();
    const auto chat
        = m_controller->generate({ engine::Message::text(engine::Role::User, "Hello") }, {});
    QTRY_VERIFY(!m_benchmark->isAvailable()); // its figures would be of two requests
    m_engine->releaseTokens();
    QTRY_VERIFY(m_benchmark->isAvailable());
}

void BenchmarkTest::stops()
{
    open({});
    m_controller->retry();
    QTRY_VERIFY(m_benchmark->isAvailable());
    m_engine->holdTokens();
    m_benchmark->start();
    QTRY_COMPARE(m_controller->runningRequests(), 1);
    m_benchmark->stop();
    QTRY_VERIFY(!m_benchmark->isRunning());
    QVERIFY(m_benchmark->problem().contains(u"Stopped"_s));
    m_engine->releaseTokens();
    QTRY_VERIFY(m_benchmark->isAvailable());
    m_benchmark->start(); // and can begin anew
    QTRY_VERIFY(!m_benchmark->isRunning());
    QCOMPARE(m_benchmark->problem(), QString());
}

void BenchmarkTest::saysWhatFailed()
{
    FakeScript script;
    script.submitError
        = engine::Error { engine::ErrorCode::ContextExceeded, "2,048 tokens do not fit 1,024" };
    open(script);
    m_controller->retry();
    QTRY_VERIFY(m_benchmark->isAvailable());
    m_benchmark->start();
    QTRY_VERIFY(!m_benchmark->isRunning());
    QCOMPARE(m_benchmark->problem(), u"2,048 tokens do not fit 1,024"_s);
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::BenchmarkTest)
#include "tst_benchmark.moc"
