// SPDX-License-Identifier: MIT
#include "app/monitor/machine_memory.h"

#include <QTest>

using namespace firesteel::app;

namespace {

constexpr std::uint64_t kGibibyte = 1ULL << 30;

constexpr std::string_view kMeminfo = "MemTotal:       127600000 kB\n"
                                      "MemFree:         2000000 kB\n"
                                      "MemAvailable:   27600000 kB\n"
                                      "Buffers:          100000 kB\n";

constexpr std::string_view kStatus = "Name:\tfiresteel\n"
                                     "VmRSS:\t 1500000 kB\n"
                                     "RssAnon:\t 1000000 kB\n"
                                     "RssFile:\t  400000 kB\n"
                                     "RssShmem:\t  100000 kB\n";

std::uint64_t sum(const MemoryShares &shares)
{
    return shares.weights + shares.states + shares.program + shares.others + shares.free;
}

} // namespace

class TestMachineMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsThePool();
    void refusesWhatIsNoMeminfo_data();
    void refusesWhatIsNoMeminfo();
    void readsTheProcess();
    void weightsOnTheGpuAreOurs();
    void mappedWeightsAreOursToo();
    void sharesAlwaysSumToTheWhole();
};

void TestMachineMemory::readsThePool()
{
    const auto memory = parseMachineMemory(kMeminfo);
    QVERIFY(memory);
    QCOMPARE(memory->total, 127'600'000ULL * 1024);
    QCOMPARE(memory->available, 27'600'000ULL * 1024);
}

void TestMachineMemory::refusesWhatIsNoMeminfo_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("no MemAvailable") << QByteArray("MemTotal: 100 kB\n");
    QTest::newRow("no number") << QByteArray("MemTotal: 100 kB\nMemAvailable: many kB\n");
    QTest::newRow("no value") << QByteArray("MemTotal: 100 kB\nMemAvailable:");
    QTest::newRow("more than there is") << QByteArray("MemTotal: 100 kB\nMemAvailable: 101 kB\n");
    QTest::newRow("too large for 64 bits")
        << QByteArray("MemTotal: 99999999999999999999 kB\nMemAvailable: 1 kB\n");
    QTest::newRow("too large in bytes")
        << QByteArray("MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n");
    QTest::newRow("a field with a longer name")
        << QByteArray("MemTotalX: 100 kB\nMemAvailable: 1 kB\n");
}

void TestMachineMemory::refusesWhatIsNoMeminfo()
{
    QFETCH(const QByteArray, text);
    QVERIFY(!parseMachineMemory({ text.constData(), static_cast<std::size_t>(text.size()) }));
}

void TestMachineMemory::readsTheProcess()
{
    const auto memory = parseProcessMemory(kStatus);
    QVERIFY(memory);
    QCOMPARE(memory->own, 1'100'000ULL * 1024);
    QCOMPARE(memory->mapped, 400'000ULL * 1024);
    QVERIFY(!parseProcessMemory("VmRSS:\t 1500000 kB\n")); // kernels without the split
}

void TestMachineMemory::weightsOnTheGpuAreOurs()
{
    // A Spark with the large model: cudaMalloc is in no RSS but takes from the pool.
    const MachineMemory machine { 120 * kGibibyte, 20 * kGibibyte };
    const auto shares
        = shareOut(machine, { 1 * kGibibyte, 0 }, 94 * kGibibyte, 85 * kGibibyte, 8 * kGibibyte);
    QCOMPARE(shares.weights, 85 * kGibibyte);
    QCOMPARE(shares.states, 8 * kGibibyte);
    QCOMPARE(shares.program, 2 * kGibibyte);
    QCOMPARE(shares.others, 5 * kGibibyte);
    QCOMPARE(shares.free, 20 * kGibibyte);
}

void TestMachineMemory::mappedWeightsAreOursToo()
{
    const MachineMemory machine { 16 * kGibibyte, 12 * kGibibyte };
    const auto shares
        = shareOut(machine, { 2 * kGibibyte, 4 * kGibibyte }, 0, 3 * kGibibyte, 1 * kGibibyte);
    QCOMPARE(shares.weights, 3 * kGibibyte);
    QCOMPARE(shares.states, 1 * kGibibyte);
    QCOMPARE(shares.program, 1 * kGibibyte);
    QCOMPARE(shares.others, 2 * kGibibyte);
    QCOMPARE(shares.free, 9 * kGibibyte);
}

void TestMachineMemory::sharesAlwaysSumToTheWhole()
{
    // Readings are not of one moment: none may make a share negative.
    for (std::uint64_t available = 0; available <= 8; ++available) {
        for (std::uint64_t own = 0; own <= 12; own += 3) {
            for (std::uint64_t gpu = 0; gpu <= 12; gpu += 4) {
                for (std::uint64_t weights = 0; weights <= 12; weights += 4) {
                    const MachineMemory machine { 8 * kGibibyte, available * kGibibyte };
                    const auto shares = shareOut(machine, { own * kGibibyte, own * kGibibyte },
                                                 gpu * kGibibyte, weights * kGibibyte, kGibibyte);
                    QCOMPARE(sum(shares), machine.total);
                    QVERIFY(shares.free <= machine.available);
                    QVERIFY(shares.weights <= weights * kGibibyte);
                }
            }
        }
    }
}

QTEST_GUILESS_MAIN(TestMachineMemory)

#include "tst_machine_memory.moc"
