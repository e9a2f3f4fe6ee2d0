// SPDX-License-Identifier: MIT
//
// The machine read from a folder that stands for /proc and from the fake driver.
#include "app/monitor/machine_reader.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

class FakeProc
{
public:
    FakeProc() { QDir(m_folder.path()).mkpath(u"self"_s); }

    QString path() const { return m_folder.path(); }
    void write(const QString &name, const QByteArray &text) const
    {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("%s cannot be written", qPrintable(name));
    }

private:
    QTemporaryDir m_folder;
};

MachineReader readerOf(const FakeProc &proc)
{
    return MachineReader({ proc.path(), u"/nowhere/libnvidia-ml.so.1"_s });
}

} // namespace

class TestMachineReader : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsAWholeMachine();
    void aProcessorIsKnownFromTheSecondLookOn();
    void countersThatGoBackTellNothing();
    void emptyFilesTellNothing();
    void thisMachineIsRead();
};

void TestMachineReader::readsAWholeMachine()
{
    const FakeProc proc;
    proc.write(u"meminfo"_s, "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
    proc.write(u"self/status"_s, "RssAnon: 100 kB\nRssFile: 50 kB\nRssShmem: 0 kB\n");
    MachineReader reader({ proc.path(), QStringLiteral(FIRESTEEL_FAKE_NVML) });
    const MachineSample sample = reader.read();
    QVERIFY(sample.memory);
    QCOMPARE(sample.memory->available, 400ULL * 1024);
    QCOMPARE(sample.process.own, 100ULL * 1024);
    QCOMPARE(sample.gpuFacts.name, u"NVIDIA GB10"_s);
    QVERIFY(sample.gpu);
    QCOMPARE(sample.gpu->powerWatts, 61.25);
    QVERIFY(sample.gpuProblem.isEmpty());
}

void TestMachineReader::aProcessorIsKnownFromTheSecondLookOn()
{
    const FakeProc proc;
    // user nice system idle iowait irq softirq steal guest guest_nice
    proc.write(u"stat"_s, "cpu  100 0 100 800 0 0 0 0 50 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    proc.write(u"vmstat"_s, "nr_free_pages 5\npgmigrate_success 1000\npgmigrate_fail 7\n");
    MachineReader reader = readerOf(proc);
    MachineSample sample = reader.read();
    QVERIFY(!sample.cpuPercent);
    QVERIFY(!sample.migratedBytes);
    QCOMPARE(sample.gpuProblem, u"No NVIDIA driver was found."_s);
    QVERIFY(!sample.gpu);
    // 60 busy, 20 idle, 20 waiting for a disk.
    proc.write(u"stat"_s, "cpu  150 0 110 820 20 0 0 0 90 0\n");
    proc.write(u"vmstat"_s, "nr_free_pages 5\npgmigrate_success 1256\n");
    sample = reader.read();
    QCOMPARE(sample.cpuPercent, 60.0);
    QCOMPARE(sample.migratedBytes, 256ULL * 4096);
}

void TestMachineReader::countersThatGoBackTellNothing()
{
    const FakeProc proc;
    proc.write(u"stat"_s, "cpu  100 0 100 800 0 0 0 0 0 0\n");
    proc.write(u"vmstat"_s, "a 1\npgmigrate_success 1000\n");
    MachineReader reader = readerOf(proc);
    reader.read();
    proc.write(u"stat"_s, "cpu  90 0 100 900 0 0 0 0 0 0\n");
    proc.write(u"vmstat"_s, "a 1\npgmigrate_success 10\n");
    MachineSample sample = reader.read();
    QVERIFY(!sample.cpuPercent);
    QVERIFY(!sample.migratedBytes);
    proc.write(u"stat"_s, "cpu  190 0 100 900 0 0 0 0 0 0\n");
    QCOMPARE(reader.read().cpuPercent, 100.0);
}

void TestMachineReader::emptyFilesTellNothing()
{
    const FakeProc proc;
    for (const QByteArray &text :
         { QByteArray(), QByteArray("cpu  1 2 3"), QByteArray("cpu  x") }) {
        for (const QString &name : { u"meminfo"_s, u"self/status"_s, u"stat"_s, u"vmstat"_s })
            proc.write(name, text);
        MachineReader reader = readerOf(proc);
        reader.read();
        const MachineSample sample = reader.read();
        QVERIFY(!sample.memory);
        QCOMPARE(sample.process.own, 0ULL);
        QVERIFY(!sample.cpuPercent);
        QVERIFY(!sample.migratedBytes);
    }
}

void TestMachineReader::thisMachineIsRead()
{
    MachineReader reader;
    const MachineSample sample = reader.read();
    QVERIFY(sample.memory);
    QVERIFY(sample.memory->available > 0);
    QVERIFY(sample.process.own > 0);
    QVERIFY(sample.gpu.has_value() != !sample.gpuProblem.isEmpty());
}

QTEST_GUILESS_MAIN(TestMachineReader)

#include "tst_machine_reader.moc"
