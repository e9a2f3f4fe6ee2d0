// SPDX-License-Identifier: MIT
//
// What a first run reads of the machine, and the sentences it makes of it.
#include "app/setup/machine_check.h"
#include "tests/app/setup/machine_files.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::MachineCheck;
using app::MachineFacts;
using app::MachineNeeds;

class MachineCheckTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsASpark();
    void readsAMachineWithoutGpu();
    void readsNothingFromStrangeFiles();
    void findsTheDiskOfAFolderThatIsNotThereYet();
    void saysWhatIsMissing_data();
    void saysWhatIsMissing();
    void asksForRoomBeforeLoading();
    void needsDiskOnlyForWhatIsMissing();

private:
    MachineFacts read(const QString &machine) const
    {
        writeMachine(m_folder.filePath(u"proc"_s), machine);
        return app::readMachineFacts(m_folder.filePath(u"proc"_s), m_folder.path());
    }

    QTemporaryDir m_folder;
};

void MachineCheckTest::readsASpark()
{
    const MachineFacts facts = read(u"spark"_s);
    QCOMPARE(facts.gpuName, u"NVIDIA GB10"_s);
    QCOMPARE(facts.driverVersion, u"580.95.05"_s);
    QCOMPARE(facts.memoryTotal, 127'600'748LL * 1024);
    QCOMPARE(facts.memoryAvailable, 112'600'748LL * 1024);
    QVERIFY(facts.diskFree && *facts.diskFree > 0);
    QVERIFY(m_folder.path().startsWith(facts.diskRoot));
}

void MachineCheckTest::readsAMachineWithoutGpu()
{
    const MachineFacts facts = read(u"laptop"_s);
    QVERIFY(facts.gpuName.isEmpty());
    QVERIFY(facts.driverVersion.isEmpty());
    QCOMPARE(facts.memoryTotal, 16'264'172LL * 1024);
}

void MachineCheckTest::readsNothingFromStrangeFiles()
{
    const MachineFacts facts = read(u"strange"_s);
    QVERIFY(facts.gpuName.isEmpty());
    QVERIFY(facts.driverVersion.isEmpty());
    QVERIFY(!facts.memoryTotal);
    QVERIFY(!facts.memoryAvailable);
    const auto checks = app::checkMachine(facts, {});
    QVERIFY(!app::canRunTarget(checks));
    QVERIFY(checks[2].found.contains(u"does not say"_s));
}

void MachineCheckTest::findsTheDiskOfAFolderThatIsNotThereYet()
{
    const MachineFacts here = app::readMachineFacts(u"/nowhere"_s, m_folder.path());
    const MachineFacts below
        = app::readMachineFacts(u"/nowhere"_s, m_folder.filePath(u"not/yet/there"_s));
    QCOMPARE(below.diskRoot, here.diskRoot);
    QVERIFY(below.diskFree);
    QVERIFY(!QDir(m_folder.filePath(u"not"_s)).exists()); // looking makes nothing
}

void MachineCheckTest::saysWhatIsMissing_data()
{
    QTest::addColumn<QString>("machine");
    QTest::addColumn<QList<bool>>("good"); // GPU, driver, memory
    QTest::addColumn<QString>("words");
    QTest::newRow("spark") << u"spark"_s << QList { true, true, true } << u"NVIDIA GB10"_s;
    QTest::newRow("old driver") << u"old driver"_s << QList { true, false, true }
                                << u"580 or newer"_s;
    QTest::newRow("laptop") << u"laptop"_s << QList { false, false, false } << u"needs 88.0 GiB"_s;
}

void MachineCheckTest::saysWhatIsMissing()
{
    QFETCH(const QString, machine);
    QFETCH(const QList<bool>, good);
    QFETCH(const QString, words);
    const auto checks = app::checkMachine(read(machine), {});
    QCOMPARE(checks.size(), 4);
    QString all;
    for (const MachineCheck &check : checks) {
        QVERIFY(!check.name.isEmpty() && !check.found.isEmpty() && !check.needed.isEmpty());
        all += check.found + check.needed;
    }
    for (qsizetype i = 0; i < good.size(); ++i)
        QCOMPARE(checks[i].isGood, good[i]);
    QCOMPARE(app::canRunTarget(checks), !good.contains(false));
    QVERIFY2(all.contains(words), qPrintable(all));
}

// Enough is built in, but other programs hold it: the machine can, only not now.
void MachineCheckTest::asksForRoomBeforeLoading()
{
    MachineFacts facts = read(u"spark"_s);
    QVERIFY(!app::checkMachine(facts, {})[2].needed.contains(u"Close other programs"_s));
    facts.memoryAvailable = 21LL << 30;
    const auto checks = app::checkMachine(facts, {});
    QVERIFY(checks[2].isGood);
    QVERIFY(checks[2].found.contains(u"21.0 GiB are free"_s));
    QVERIFY(checks[2].needed.contains(u"Close other programs"_s));
}

void MachineCheckTest::needsDiskOnlyForWhatIsMissing()
{
    MachineFacts facts = read(u"spark"_s);
    facts.diskFree = 60'000'000'000;
    MachineNeeds needs;
    QVERIFY(app::checkMachine(facts, needs)[3].isGood);
    needs.diskBytes = 92'600'000'000;
    const auto checks = app::checkMachine(facts, needs);
    QVERIFY(!checks[3].isGood);
    QVERIFY2(checks[3].found.contains(u"60.0 GB"_s), qPrintable(checks[3].found));
    QVERIFY2(checks[3].needed.contains(u"92.6 GB"_s), qPrintable(checks[3].needed));
    QVERIFY(app::canRunTarget(checks)); // another disk is easy to choose
    facts.diskFree.reset();
    QVERIFY(!app::checkMachine(facts, needs)[3].isGood);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::MachineCheckTest)
#include "tst_machine_check.moc"
