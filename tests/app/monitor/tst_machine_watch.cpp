// SPDX-License-Identifier: MIT
//
// Which readings are trouble, and which are not.
#include "app/monitor/machine_watch.h"

#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr std::uint64_t kGibibyte = 1ULL << 30;

class Machine
{
public:
    MachineReading reading;

    Machine()
    {
        reading.reserveBytes = 16 * kGibibyte;
        reading.machine.memory = MachineMemory { 120 * kGibibyte, 30 * kGibibyte };
        reading.machine.gpu = GpuSample { 96, 61, 79, 2230, 0, 0 };
    }

    GpuSample &gpu() { return *reading.machine.gpu; }
    QStringList pass(int seconds)
    {
        QStringList troubles;
        for (int i = 0; i < seconds; ++i) {
            reading.time += 1000;
            troubles = m_watch.add(reading);
        }
        return troubles;
    }

private:
    MachineWatch m_watch;
};

} // namespace

class TestMachineWatch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsWrongAtFirst();
    void littleMemory();
    void aClampedGpu();
    void noClampWhereClocksAreLowForAReason_data();
    void noClampWhereClocksAreLowForAReason();
    void throttling_data();
    void throttling();
    void aPassingReasonIsNoTrouble();
    void aSlowStateStandsOut();
    void fewerRowsAreNoSlowState();
    void aThrottledGpuIsNoSlowState();
    void withoutAGpuThereIsNoSlowState();
    void migratedPagesCountWhileWriting();
};

void TestMachineWatch::nothingIsWrongAtFirst()
{
    Machine machine;
    machine.reading.stepsPerSecond = 25;
    QCOMPARE(machine.pass(200), QStringList());
    machine.reading = {}; // nothing known at all
    QCOMPARE(machine.pass(20), QStringList());
}

void TestMachineWatch::littleMemory()
{
    Machine machine;
    machine.reading.machine.memory->available = 16 * kGibibyte;
    QCOMPARE(machine.pass(1), QStringList());
    machine.reading.machine.memory->available = 3 * kGibibyte;
    const QStringList troubles = machine.pass(1);
    QCOMPARE(troubles.size(), 1);
    QVERIFY2(troubles.first().startsWith(u"Only 3.0 GiB of memory are available; 16.0 GiB"_s),
             qPrintable(troubles.first()));
}

void TestMachineWatch::aClampedGpu()
{
    Machine machine;
    machine.gpu() = { 97, 13, 55, 721, GpuIdle, 0 };
    QCOMPARE(machine.pass(MachineWatch::kClampSeconds - 1), QStringList());
    const QStringList troubles = machine.pass(1);
    QCOMPARE(troubles.size(), 1);
    QVERIFY2(troubles.first().startsWith(u"The GPU is held at 721 MHz and 13 W"_s),
             qPrintable(troubles.first()));
    machine.gpu().clockMegahertz = 2100;
    QCOMPARE(machine.pass(1), QStringList());
}

void TestMachineWatch::noClampWhereClocksAreLowForAReason_data()
{
    QTest::addColumn<double>("use");
    QTest::addColumn<double>("clock");
    QTest::addColumn<double>("power");
    QTest::addColumn<qulonglong>("reasons");
    QTest::newRow("idle") << 0.0 << 208.0 << 5.0 << qulonglong { GpuIdle };
    QTest::newRow("clocks set by the owner")
        << 97.0 << 800.0 << 14.0 << qulonglong { GpuClocksSetting };
    QTest::newRow("a capped but healthy box") << 97.0 << 2000.0 << 45.0 << 0ULL;
    QTest::newRow("a low clock at full power") << 97.0 << 850.0 << 60.0 << 0ULL;
}

void TestMachineWatch::noClampWhereClocksAreLowForAReason()
{
    QFETCH(const double, use);
    QFETCH(const double, clock);
    QFETCH(const double, power);
    QFETCH(const qulonglong, reasons);
    Machine machine;
    machine.gpu() = { use, power, 55, clock, reasons, 0 };
    QCOMPARE(machine.pass(60), QStringList());
}

void TestMachineWatch::throttling_data()
{
    QTest::addColumn<qulonglong>("reasons");
    QTest::addColumn<QString>("begin");
    QTest::newRow("heat") << qulonglong { GpuThermalSlowdown }
                          << u"The GPU slows down because it is hot (79 °C)."_s;
    QTest::newRow("heat, by hardware, and power")
        << qulonglong { GpuHardwareThermalSlowdown | GpuHardwareSlowdown | GpuPowerCap }
        << u"The GPU slows down because it is hot (79 °C)."_s;
    QTest::newRow("power brake") << qulonglong { GpuPowerBrake | GpuHardwareSlowdown }
                                 << u"The GPU slows down because the power supply"_s;
    QTest::newRow("power limit") << qulonglong { GpuPowerCap }
                                 << u"The GPU is at its power limit."_s;
    QTest::newRow("hardware") << qulonglong { GpuHardwareSlowdown }
                              << u"The GPU slows down: its hardware asks for it"_s;
}

void TestMachineWatch::throttling()
{
    QFETCH(const qulonglong, reasons);
    QFETCH(const QString, begin);
    Machine machine;
    machine.gpu().reasons = reasons;
    const QStringList troubles = machine.pass(MachineWatch::kThrottledSeconds);
    QCOMPARE(troubles.size(), 1);
    QVERIFY2(troubles.first().startsWith(begin), qPrintable(troubles.first()));
    machine.gpu().reasons = GpuIdle | GpuDisplayClockSetting | GpuSyncBoost;
    QCOMPARE(machine.pass(5), QStringList());
}

void TestMachineWatch::aPassingReasonIsNoTrouble()
{
    Machine machine;
    for (int i = 0; i < 20; ++i) {
        machine.gpu().reasons = GpuPowerCap;
        QCOMPARE(machine.pass(MachineWatch::kThrottledSeconds - 1), QStringList());
        machine.gpu().reasons = 0;
        QCOMPARE(machine.pass(1), QStringList());
    }
}

void TestMachineWatch::aSlowStateStandsOut()
{
    Machine machine;
    machine.reading.stepsPerSecond = 24;
    QCOMPARE(machine.pass(30), QStringList());
    machine.reading.stepsPerSecond = 8; // 228 GB/s became 76
    QCOMPARE(machine.pass(MachineWatch::kSlowSeconds - 1), QStringList());
    QStringList troubles = machine.pass(1);
    QCOMPARE(troubles.size(), 1);
    QVERIFY2(troubles.first().startsWith(u"The model's steps take 3.0 times as long"_s),
             qPrintable(troubles.first()));
    // Slow steps do not become what is usual.
    QCOMPARE(machine.pass(300).size(), 1);
    machine.reading.stepsPerSecond = 24;
    QCOMPARE(machine.pass(1), QStringList());
    // Between answers nothing is known.
    machine.reading.stepsPerSecond = 8;
    machine.pass(MachineWatch::kSlowSeconds);
    machine.reading.stepsPerSecond.reset();
    QCOMPARE(machine.pass(1), QStringList());
}

void TestMachineWatch::fewerRowsAreNoSlowState()
{
    Machine machine;
    machine.reading.stepsPerSecond = 1000 / 31.4; // one row
    machine.pass(60);
    machine.reading.stepsPerSecond = 1000 / 74.0; // six rows, experts apart
    QCOMPARE(machine.pass(60), QStringList());
}

void TestMachineWatch::aThrottledGpuIsNoSlowState()
{
    Machine machine;
    machine.reading.stepsPerSecond = 24;
    machine.pass(30);
    machine.reading.stepsPerSecond = 8;
    machine.gpu().reasons = GpuThermalSlowdown;
    const QStringList troubles = machine.pass(10);
    QCOMPARE(troubles.size(), 1); // the heat, once
    QVERIFY(troubles.first().contains(u"hot"_s));
}

void TestMachineWatch::withoutAGpuThereIsNoSlowState()
{
    Machine machine;
    machine.reading.machine.gpu.reset();
    machine.reading.stepsPerSecond = 100;
    machine.pass(30);
    machine.reading.stepsPerSecond = 3;
    QCOMPARE(machine.pass(30), QStringList());
}

void TestMachineWatch::migratedPagesCountWhileWriting()
{
    Machine machine;
    machine.reading.machine.migratedBytes = 150'000'000;
    QCOMPARE(machine.pass(3), QStringList()); // nobody writes
    machine.reading.stepsPerSecond = 24;
    const QStringList troubles = machine.pass(1);
    QCOMPARE(troubles.size(), 1);
    QVERIFY2(troubles.first().startsWith(u"The system moved"_s), qPrintable(troubles.first()));
    machine.reading.machine.migratedBytes = 0;
    QCOMPARE(machine.pass(11), QStringList());
}

QTEST_GUILESS_MAIN(TestMachineWatch)

#include "tst_machine_watch.moc"
