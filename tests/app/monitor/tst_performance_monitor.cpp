// SPDX-License-Identifier: MIT
//
// The monitor on the scripted engine, a folder for /proc and the fake driver: when it samples, what
// it keeps, what it says.
#include "app/monitor/performance_monitor.h"
#include "tests/support/fake_engine.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <vector>

using namespace firesteel;
using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

struct Session
{
    explicit Session(test::FakeScript script = {})
        : engine(std::move(script))
        , monitor(engine, { u"/proc"_s, QStringLiteral(FIRESTEEL_FAKE_NVML) })
    {
        engine.load({}, [](const engine::LoadEvent &) { });
        while (engine.stats().state != engine::EngineStats::State::Ready)
            QTest::qWait(1);
    }

    void loadWithDrafter()
    {
        engine.load({ .modelDirectory = "/", .drafterDirectory = "/drafter" },
                    [](const engine::LoadEvent &) { });
        QTRY_VERIFY(engine.stats().state == engine::EngineStats::State::Ready);
    }

    engine::RequestId ask(const std::string &text, const std::string &source = {})
    {
        const engine::Message message = engine::Message::text(engine::Role::User, text);
        engine::GenerationRequest request;
        request.prompt = engine.prepare({ &message, 1 }, {}, {}).value();
        request.source = source;
        return engine.submit(std::move(request), [](auto, const auto &) { }).value();
    }

    // One look, finished.
    void look()
    {
        QSignalSpy sampled(&monitor, &PerformanceMonitor::sampled);
        monitor.setWatched(&view, true);
        QVERIFY(sampled.wait(10'000));
    }

    test::FakeEngine engine;
    PerformanceMonitor monitor;
    QObject view;
};

} // namespace

class TestPerformanceMonitor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void samplesOnlyWhileSomethingShowsIt();
    void pausingStopsIt();
    void readsTheMachine();
    void weightsAreTheModelsAndItsDrafters();
    void requestsAreListedAndCanBeStopped();
    void aPromptThatIsReadHasProgress();
    void ratesAreOfTheLastMoment();
    void csvHasALineASample();
    void draftingIsEmptyUntilADrafterRuns();
    void draftingIsSeenPerLook();
    void draftingStartsAgainWithAModel();
    void historiesForgetTheOldest();
    void unknownFiguresSaySo();
    void rowsKeepTheirPlace();
};

void TestPerformanceMonitor::samplesOnlyWhileSomethingShowsIt()
{
    Session session;
    QVERIFY(!session.monitor.isSampling());
    session.look();
    QVERIFY(session.monitor.isSampling());
    auto second = std::make_unique<QObject>();
    session.monitor.setWatched(second.get(), true);
    session.monitor.setWatched(&session.view, false);
    QVERIFY(session.monitor.isSampling());
    second.reset(); // a view that goes away without a word
    QVERIFY(!session.monitor.isSampling());
    const std::size_t before = session.monitor.decodeSpeed()->size();
    QTest::qWait(2 * PerformanceMonitor::kIntervalMilliseconds + 200);
    QCOMPARE(session.monitor.decodeSpeed()->size(), before);
}

void TestPerformanceMonitor::pausingStopsIt()
{
    Session session;
    session.look();
    QSignalSpy paused(&session.monitor, &PerformanceMonitor::pausedChanged);
    session.monitor.setPaused(true);
    QCOMPARE(paused.size(), 1);
    QVERIFY(!session.monitor.isSampling());
    const std::size_t before = session.monitor.decodeSpeed()->size();
    QVERIFY(before > 0); // what was seen stays
    session.monitor.setWatched(&session.view, false);
    session.monitor.setWatched(&session.view, true);
    QVERIFY(!session.monitor.isSampling());
    session.monitor.setPaused(false);
    QVERIFY(session.monitor.isSampling());
    QTRY_VERIFY(session.monitor.decodeSpeed()->size() > before);
}

void TestPerformanceMonitor::readsTheMachine()
{
    test::FakeScript script;
    script.weightBytes = 64 << 20;
    script.bytesPerToken = 4;
    Session session(script);
    session.look();
    const MemoryPool memory = session.monitor.memory();
    QVERIFY(memory.total > 0);
    QVERIFY(memory.weights > 0);
    QCOMPARE(memory.weights + memory.states + memory.program + memory.others + memory.free,
             memory.total);
    QCOMPARE(session.monitor.gpuName(), u"NVIDIA GB10"_s);
    QCOMPARE(session.monitor.gpuMetrics().at(0)->text(), u"96 %"_s);
    QCOMPARE(session.monitor.gpuMetrics().at(1)->text(), u"61 W"_s);
    QCOMPARE(session.monitor.gpuMetrics().at(2)->text(), u"79 °C"_s);
    QCOMPARE(session.monitor.gpuMetrics().at(3)->text(), u"2,230 MHz"_s);
}

// What this process has of its own decides how much of the weights is believed to be there; one
// that is as small as a test is grows by what it would have loaded.
void TestPerformanceMonitor::weightsAreTheModelsAndItsDrafters()
{
    test::FakeScript script;
    script.weightBytes = 24 << 20;
    script.drafterBytes = 8 << 20;
    script.bytesPerToken = 4;
    script.contextTokens = 1024;
    Session session(script);
    const std::vector<char> loaded(96 << 20, 1);
    session.look();
    QCOMPARE(session.monitor.memory().weights, 24.0 * (1 << 20));
    session.monitor.setWatched(&session.view, false);
    session.loadWithDrafter();
    session.look();
    QCOMPARE(session.monitor.memory().weights, 32.0 * (1 << 20));
    QVERIFY(loaded.back() == 1);
}

void TestPerformanceMonitor::requestsAreListedAndCanBeStopped()
{
    Session session;
    const QAbstractItemModelTester tester(session.monitor.requests());
    session.engine.holdTokens();
    session.engine.allowTokens(2);
    session.ask("first");
    QTRY_COMPARE(session.engine.emittedTokens(), 2);
    session.ask("second", "laptop");
    session.look();
    RequestListModel &requests = *session.monitor.requests();
    QCOMPARE(requests.rowCount(), 2);
    QCOMPARE(requests.summary(), u"1 running, 1 waiting"_s);
    const auto text = [&requests](int row, RequestListModel::Role role) {
        return requests.data(requests.index(row), role).toString();
    };
    QCOMPARE(text(0, RequestListModel::SourceRole), u"This window"_s);
    QCOMPARE(text(1, RequestListModel::SourceRole), u"laptop"_s);
    QVERIFY(text(0, RequestListModel::StateRole).startsWith(u"writing, 2 token"_s));
    QVERIFY(text(1, RequestListModel::StateRole).startsWith(u"waiting"_s));
    session.monitor.stopRequest(7); // not there
    session.monitor.stopRequest(0);
    QTRY_COMPARE(requests.rowCount(), 1);
    QCOMPARE(text(0, RequestListModel::SourceRole), u"laptop"_s);
    session.monitor.stopRequest(0);
    QTRY_COMPARE(requests.rowCount(), 0);
    QCOMPARE(requests.summary(), u"none"_s);
}

void TestPerformanceMonitor::aPromptThatIsReadHasProgress()
{
    test::FakeScript script;
    script.prefillTime = std::chrono::seconds(80); // a step takes ten
    Session session(script);
    session.ask(std::string(4000, 'x'));
    QTRY_COMPARE(session.engine.stats().runningRequests, 1);
    session.look();
    QVERIFY(session.monitor.isPrefilling());
    QVERIFY(!session.monitor.isDecoding());
    QCOMPARE(session.monitor.prefillFraction(), 0.0);
    QCOMPARE(session.monitor.prefillText(), u"0 of 1,001 tokens"_s);
    session.monitor.stopRequest(0);
    QTRY_VERIFY(!session.monitor.isPrefilling());
}

void TestPerformanceMonitor::ratesAreOfTheLastMoment()
{
    Session session;
    session.engine.holdTokens();
    session.engine.allowTokens(1);
    session.ask("How?");
    QTRY_COMPARE(session.engine.emittedTokens(), 1);
    session.look();
    QVERIFY(!session.monitor.decodeSpeed()->isKnown()); // nothing to compare with
    QVERIFY(session.monitor.isDecoding());
    QTRY_VERIFY(session.monitor.decodeSpeed()->isKnown());
    QCOMPARE(session.monitor.decodeSpeed()->value(), 0.0); // it waits for tokens
    session.engine.allowTokens(3);
    QTRY_VERIFY(session.monitor.decodeSpeed()->value() > 0);
    QVERIFY(session.monitor.decodeSpeed()->value() <= 3.0 / 0.5);
    QTRY_COMPARE(session.monitor.decodeSpeed()->value(), 0.0);
    QVERIFY(session.monitor.decodeSpeed()->peak() > 0);
}

void TestPerformanceMonitor::csvHasALineASample()
{
    Session session;
    session.look();
    QTRY_VERIFY(session.monitor.decodeSpeed()->size() >= 2);
    session.monitor.setPaused(true);
    session.monitor.copyCsv();
    const QStringList lines = QGuiApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(static_cast<std::size_t>(lines.size()), session.monitor.decodeSpeed()->size() + 1);
    const QStringList header = lines.first().split(u',');
    QVERIFY(header.contains(u"decode (tok/s)"_s));
    QVERIFY(header.contains(u"GPU power (W)"_s));
    for (const QString &line : lines.sliced(1)) {
        const QStringList fields = line.split(u',');
        QCOMPARE(fields.size(), header.size());
        QVERIFY(QDateTime::fromString(fields.first(), Qt::ISODateWithMs).isValid());
        QCOMPARE(fields.at(header.indexOf(u"GPU power (W)"_s)), u"61.25"_s);
    }
    // No speed is known of the first moment: an empty field, not a zero.
    QVERIFY(lines.at(1).split(u',').at(header.indexOf(u"decode (tok/s)"_s)).isEmpty());
}

void TestPerformanceMonitor::draftingIsEmptyUntilADrafterRuns()
{
    Session session;
    session.look();
    DraftMetrics &drafting = *session.monitor.drafting();
    QVERIFY(!drafting.isKnown());
    QVERIFY(drafting.acceptance().isEmpty());
    QVERIFY(!drafting.metrics().first()->isKnown());
    engine::DraftCounts counts;
    counts.addStep(2, 2);
    counts.addStep(2, 0);
    counts.addStep(1, 1);
    session.engine.draft(counts, 2);
    QTRY_VERIFY(drafting.isKnown());
    QCOMPARE(drafting.acceptance(), (QList<double> { 2.0 / 3, 0.5 }));
    QCOMPARE(drafting.acceptedPerStep(), 1.0);
    const QStringList header = session.monitor.csv().section(u'\n', 0, 0).split(u',');
    for (const QString &column :
         { u"accepted per step"_s, u"draft (ms per step)"_s, u"verify (ms per step)"_s, u"K"_s,
           u"accepted at 1 (%)"_s, u"accepted at 8 (%)"_s })
        QVERIFY2(header.contains(column), qPrintable(column));
}

void TestPerformanceMonitor::draftingIsSeenPerLook()
{
    std::vector<std::unique_ptr<MetricHistory>> histories;
    DraftMetrics drafting(
        [&](const QString &key, const QString &name, const QString &unit, int decimals) {
            histories.push_back(std::make_unique<MetricHistory>(key, name, unit, decimals));
            return histories.back().get();
        });
    const auto text = [&](const QString &key) {
        const auto found = std::ranges::find(histories, key, &MetricHistory::key);
        return (*found)->isKnown() ? (*found)->number() : u"unknown"_s;
    };
    engine::DraftCounts totals;
    totals.addStep(3, 3);
    totals.addStep(3, 1);
    totals.draftSeconds = 0.004;
    totals.verifySeconds = 0.05;
    drafting.take(1000, totals, 3, true);
    QCOMPARE(text(u"accepted per step"_s), u"2.00"_s);
    QCOMPARE(text(u"draft (ms per step)"_s), u"2.00"_s);
    QCOMPARE(text(u"verify (ms per step)"_s), u"25.00"_s);
    QCOMPARE(text(u"K"_s), u"3"_s);
    QCOMPARE(text(u"accepted at 1 (%)"_s), u"100"_s);
    QCOMPARE(text(u"accepted at 3 (%)"_s), u"50"_s);
    QCOMPARE(text(u"accepted at 4 (%)"_s), u"unknown"_s);
    // Steps without a guess tell nothing of drafting.
    totals.addStep(0, 0);
    drafting.take(2000, totals, 0, true);
    QCOMPARE(text(u"accepted per step"_s), u"unknown"_s);
    for (const MetricHistory *metric : drafting.metrics())
        QCOMPARE(metric->text(), u"resting"_s);
    QCOMPARE(drafting.acceptance(), (QList<double> { 1.0, 0.5, 0.5 }));
    // Counts of a time nobody watched are no figure of the last second.
    totals.addStep(3, 0);
    drafting.take(90'000, totals, 3, false);
    QCOMPARE(text(u"accepted per step"_s), u"unknown"_s);
    QCOMPARE(drafting.acceptance(), (QList<double> { 2.0 / 3, 1.0 / 3, 1.0 / 3 }));
}

void TestPerformanceMonitor::draftingStartsAgainWithAModel()
{
    std::vector<std::unique_ptr<MetricHistory>> histories;
    DraftMetrics drafting(
        [&](const QString &key, const QString &name, const QString &unit, int decimals) {
            histories.push_back(std::make_unique<MetricHistory>(key, name, unit, decimals));
            return histories.back().get();
        });
    engine::DraftCounts totals;
    for (std::size_t i = 0; i < DraftMetrics::kLooks + 10; ++i) {
        totals.addStep(1, i < 10 ? 0 : 1);
        drafting.take(static_cast<qint64>(i) * 1000, totals, 1, true);
    }
    QCOMPARE(drafting.acceptance(), QList<double> { 1.0 }); // the first ten are too long ago
    QSignalSpy changed(&drafting, &DraftMetrics::changed);
    drafting.take(99'000, {}, 0, true);
    QCOMPARE(changed.size(), 1);
    QVERIFY(!drafting.isKnown());
    QVERIFY(drafting.acceptance().isEmpty());
}

void TestPerformanceMonitor::historiesForgetTheOldest()
{
    MetricHistory history(u"x"_s, u"X"_s, u"W"_s, 0);
    const auto capacity = static_cast<qint64>(MetricHistory::kCapacity);
    for (qint64 i = 0; i < capacity + 5; ++i)
        history.add({ i * 1000, static_cast<double>(i) });
    QCOMPARE(history.size(), MetricHistory::kCapacity);
    QCOMPARE(history.at(0).time, 5000);
    QCOMPARE(history.newestTime(), (capacity + 4) * 1000);
    QCOMPARE(history.value(), static_cast<double>(capacity + 4));
    // The peak is of what a plot shows.
    history.add({ (capacity + 5) * 1000, 1.0 });
    QCOMPARE(history.peak(), static_cast<double>(capacity + 4));
    for (qint64 i = 0; i < 130; ++i)
        history.add({ (capacity + 6 + i) * 1000, 2.0 });
    QCOMPARE(history.peak(), 2.0);
}

void TestPerformanceMonitor::unknownFiguresSaySo()
{
    MetricHistory history(u"x"_s, u"Power"_s, u"W"_s, 0);
    QCOMPARE(history.text(), QString()); // nothing was asked yet
    history.add({ 0, {} });
    QCOMPARE(history.text(), u"not available"_s);
    QCOMPARE(history.peak(), 0.0);
    history.add({ 1000, 12.4 });
    QCOMPARE(history.text(), u"12 W"_s);
}

void TestPerformanceMonitor::rowsKeepTheirPlace()
{
    RequestListModel model;
    const QAbstractItemModelTester tester(&model);
    const auto request = [](engine::RequestId id) {
        engine::RequestStatus status;
        status.id = id;
        status.source = "client " + std::to_string(id);
        return status;
    };
    model.update({ request(1), request(2), request(3) });
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    model.update({ request(1), request(3), request(4) });
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.idAt(1), engine::RequestId { 3 });
    QCOMPARE(model.data(model.index(2), RequestListModel::SourceRole).toString(), u"client 4"_s);
    QCOMPARE(removed.size(), 1);
    QCOMPARE(inserted.size(), 1);
    QCOMPARE(reset.size(), 0);
    model.update({});
    QCOMPARE(model.rowCount(), 0);
    QVERIFY(!model.idAt(0));
}

QTEST_MAIN(TestPerformanceMonitor)

#include "tst_performance_monitor.moc"
