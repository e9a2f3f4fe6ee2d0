// SPDX-License-Identifier: MIT
//
// The texts of vLLM and SGLang are constructed from their public documentation ("Production
// Metrics" of each), not recorded; that of this program is what its own server gives.
#include "app/remote/remote_metrics.h"

#include <QTest>

namespace firesteel::test {

using app::PrometheusText;
using app::RemoteReading;

class RemoteMetricsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsSamples();
    void leavesOutWhatIsNone();
    void readsVllm();
    void readsAnOlderVllm();
    void readsSglang();
    void readsFiresteel();
    void knowsNothingOfOthers();
    void computesRates();
};

void RemoteMetricsTest::readsSamples()
{
    const PrometheusText text("# HELP a Words {with} 9\n"
                              "a 1\n"
                              "b{x=\"}\\\" 7\",y=\"2\"} 3.5e1 1712345678\r\n"
                              "b{x=\"other\"}\t5\n"
                              "c +Inf\nd NaN\n");
    QCOMPARE(text.sum("a"), 1.0);
    QCOMPARE(text.sum("b"), 40.0);
    QCOMPARE(text.mean("b"), 20.0);
    QVERIFY(!text.sum("c"));
    QVERIFY(!text.mean("d"));
    QVERIFY(!text.sum("HELP"));
    QVERIFY(text.hasPrefix("b"));
    QVERIFY(!text.hasPrefix("bb"));
}

void RemoteMetricsTest::leavesOutWhatIsNone()
{
    const PrometheusText text("<html>\na\na{x=\"1\n{x=\"1\"} 2\na{x=\"1\"}\na word\n\n}\n");
    QVERIFY(text.isEmpty());
    QVERIFY(PrometheusText("").isEmpty());
}

void RemoteMetricsTest::readsVllm()
{
    const RemoteReading reading = app::readingOf(
        PrometheusText("# TYPE vllm:num_requests_running gauge\n"
                       "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 2.0\n"
                       "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 1.0\n"
                       "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 4.0\n"
                       "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.5\n"
                       "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.25\n"
                       "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 1000.0\n"
                       "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 2.5e+03\n"
                       "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 80.0\n"
                       "vllm:spec_decode_num_accepted_tokens_total{model_name=\"m\"} 60.0\n"));
    QCOMPARE(reading.server, QStringLiteral("vLLM"));
    QCOMPARE(reading.running, 3.0);
    QCOMPARE(reading.waiting, 4.0);
    QCOMPARE(reading.cacheUse, 0.375);
    QCOMPARE(reading.promptTotal, 1000.0);
    QCOMPARE(reading.generatedTotal, 2500.0);
    QCOMPARE(reading.draftedTotal, 80.0);
    QCOMPARE(reading.acceptedTotal, 60.0);
    QVERIFY(!reading.generationRate);
}

void RemoteMetricsTest::readsAnOlderVllm()
{
    const RemoteReading reading
        = app::readingOf(PrometheusText("vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.75\n"));
    QCOMPARE(reading.cacheUse, 0.75);
    QVERIFY(!reading.running);
    QVERIFY(!reading.draftedTotal);
}

void RemoteMetricsTest::readsSglang()
{
    const RemoteReading reading = app::readingOf(
        PrometheusText("sglang:num_running_reqs{model_name=\"m\"} 162.0\n"
                       "sglang:num_queue_reqs{model_name=\"m\"} 2826.0\n"
                       "sglang:token_usage{model_name=\"m\"} 0.28\n"
                       "sglang:gen_throughput{model_name=\"m\"} 86.5\n"
                       "sglang:prompt_tokens_total{model_name=\"m\"} 8.0e+06\n"
                       "sglang:generation_tokens_total{model_name=\"m\"} 7.5e+06\n"));
    QCOMPARE(reading.server, QStringLiteral("SGLang"));
    QCOMPARE(reading.running, 162.0);
    QCOMPARE(reading.waiting, 2826.0);
    QCOMPARE(reading.cacheUse, 0.28);
    QCOMPARE(reading.generationRate, 86.5);
    QCOMPARE(reading.promptTotal, 8.0e6);
    QCOMPARE(reading.generatedTotal, 7.5e6);
}

void RemoteMetricsTest::readsFiresteel()
{
    const RemoteReading reading
        = app::readingOf(PrometheusText("firesteel_requests_running 1\n"
                                        "firesteel_requests_waiting 0\n"
                                        "firesteel_context_tokens 4000\n"
                                        "firesteel_context_used_tokens 1000\n"
                                        "firesteel_engine_decoded_tokens_total 77\n"));
    QCOMPARE(reading.server, QStringLiteral("Firesteel"));
    QCOMPARE(reading.running, 1.0);
    QCOMPARE(reading.waiting, 0.0);
    QCOMPARE(reading.cacheUse, 0.25);
    QCOMPARE(reading.generatedTotal, 77.0);
    QVERIFY(!reading.promptTotal);
    QVERIFY(!app::readingOf(PrometheusText("firesteel_context_used_tokens 1\n")).cacheUse);
}

void RemoteMetricsTest::knowsNothingOfOthers()
{
    const RemoteReading reading = app::readingOf(PrometheusText("go_goroutines 12\n"));
    QVERIFY(reading.server.isEmpty());
    QVERIFY(!reading.running);
}

void RemoteMetricsTest::computesRates()
{
    QCOMPARE(app::ratePerSecond(100, 150, 2), 25.0);
    QCOMPARE(app::ratePerSecond(100, 100, 2), 0.0);
    QVERIFY(!app::ratePerSecond({}, 150, 2));
    QVERIFY(!app::ratePerSecond(100, {}, 2));
    QVERIFY(!app::ratePerSecond(100, 150, 0));
    QVERIFY(!app::ratePerSecond(100, 5, 2)); // it was started again
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::RemoteMetricsTest)
#include "tst_remote_metrics.moc"
