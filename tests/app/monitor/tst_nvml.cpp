// SPDX-License-Identifier: MIT
//
// NVML through a fake driver library: what it gives, what it says is not supported, what is missing
// in an old one, how it fails.
#include "app/monitor/nvml.h"
#include "tests/app/monitor/fake_nvml.h"

#include <QTest>

#include <dlfcn.h>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;
using app::Nvml;

namespace {

// The library stays open as long as this lives, so that the script is the one Nvml will see.
class Driver
{
public:
    explicit Driver(const char *library)
        : m_handle(dlopen(library, RTLD_NOW))
    {
        if (m_handle == nullptr)
            qFatal("%s", dlerror());
        script() = {};
    }
    ~Driver() { dlclose(m_handle); }
    Driver(const Driver &) = delete;
    Driver &operator=(const Driver &) = delete;

    test::FakeNvml &script() const
    {
        return *reinterpret_cast<test::FakeNvml *(*)()>(dlsym(m_handle, "fakeNvml"))();
    }

private:
    void *m_handle;
};

const QString kDriver = QStringLiteral(FIRESTEEL_FAKE_NVML);

} // namespace

class TestNvml : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsWhatGb10Gives();
    void aGpuOfItsOwnHasMemory();
    void whatIsNotSupportedIsEmpty();
    void anOldDriverLacksFigures();
    void failuresAreSentences_data();
    void failuresAreSentences();
    void aMissingLibraryIsNoDriver();
    void aLibraryWithoutSymbolsIsTooOld();
    void longNamesAreCut();
    void everyInitIsShutDown();
};

void TestNvml::readsWhatGb10Gives()
{
    const Driver driver(FIRESTEEL_FAKE_NVML);
    driver.script().reasonBits = app::GpuPowerCap;
    const auto nvml = Nvml::open(kDriver);
    QVERIFY(nvml.has_value());
    const app::GpuFacts &facts = (*nvml)->facts();
    QCOMPARE(facts.name, u"NVIDIA GB10"_s);
    QCOMPARE(facts.driverVersion, u"580.95.05"_s);
    QCOMPARE(facts.count, 1);
    QVERIFY(!facts.memoryBytes); // it shares the machine's
    const app::GpuSample sample = (*nvml)->read();
    QCOMPARE(sample.usePercent, 96.0);
    QCOMPARE(sample.powerWatts, 61.25);
    QCOMPARE(sample.temperatureCelsius, 79.0);
    QCOMPARE(sample.clockMegahertz, 2230.0);
    QCOMPARE(sample.reasons, std::uint64_t { app::GpuPowerCap });
    QCOMPARE(sample.processBytes, std::uint64_t { 1ULL << 30 });
}

void TestNvml::aGpuOfItsOwnHasMemory()
{
    const Driver driver(FIRESTEEL_FAKE_NVML);
    driver.script().memory = 0;
    driver.script().memoryTotal = 141ULL << 30;
    driver.script().ownBytes = 0;
    const auto nvml = Nvml::open(kDriver);
    QVERIFY(nvml.has_value());
    QCOMPARE((*nvml)->facts().memoryBytes, std::uint64_t { 141ULL << 30 });
    QCOMPARE((*nvml)->read().processBytes, std::uint64_t { 0 }); // others compute, we do not
    driver.script().processCount = 0;
    QCOMPARE((*nvml)->read().processBytes, std::uint64_t { 0 });
}

void TestNvml::whatIsNotSupportedIsEmpty()
{
    const Driver driver(FIRESTEEL_FAKE_NVML);
    test::FakeNvml &script = driver.script();
    script.utilization = script.power = script.temperature = script.clock = script.reasons
        = script.processes = 3;
    const auto nvml = Nvml::open(kDriver);
    QVERIFY(nvml.has_value());
    const app::GpuSample sample = (*nvml)->read();
    QVERIFY(!sample.usePercent);
    QVERIFY(!sample.powerWatts);
    QVERIFY(!sample.temperatureCelsius);
    QVERIFY(!sample.clockMegahertz);
    QVERIFY(!sample.reasons);
    QVERIFY(!sample.processBytes);
    // A GPU that is lost while it is watched, and is found again.
    script.utilization = 15;
    QVERIFY(!(*nvml)->read().usePercent);
    script.utilization = 0;
    QCOMPARE((*nvml)->read().usePercent, 96.0);
}

void TestNvml::anOldDriverLacksFigures()
{
    const Driver driver(FIRESTEEL_FAKE_NVML_OLD);
    driver.script().reasonBits = app::GpuThermalSlowdown;
    const auto nvml = Nvml::open(QStringLiteral(FIRESTEEL_FAKE_NVML_OLD));
    QVERIFY(nvml.has_value());
    const app::GpuSample sample = (*nvml)->read();
    QCOMPARE(sample.powerWatts, 61.25);
    QVERIFY(!sample.clockMegahertz);
    QVERIFY(!sample.processBytes);
    QCOMPARE(sample.reasons, std::uint64_t { app::GpuThermalSlowdown }); // by its older name
}

void TestNvml::failuresAreSentences_data()
{
    QTest::addColumn<int>("init");
    QTest::addColumn<uint>("count");
    QTest::addColumn<int>("device");
    QTest::addColumn<QString>("text");
    QTest::newRow("driver not loaded")
        << 9 << 1U << 0 << u"The NVIDIA driver does not answer: Driver Not Loaded."_s;
    QTest::newRow("no GPU") << 0 << 0U << 0 << u"The NVIDIA driver found no GPU."_s;
    QTest::newRow("lost GPU") << 0 << 1U << 15 << u"The GPU cannot be asked: GPU is lost."_s;
}

void TestNvml::failuresAreSentences()
{
    QFETCH(const int, init);
    QFETCH(const uint, count);
    QFETCH(const int, device);
    QFETCH(const QString, text);
    const Driver driver(FIRESTEEL_FAKE_NVML);
    driver.script().init = init;
    driver.script().count = count;
    driver.script().device = device;
    const auto nvml = Nvml::open(kDriver);
    QVERIFY(!nvml);
    QCOMPARE(nvml.error(), text);
    QCOMPARE(driver.script().initialized, 0);
}

void TestNvml::aMissingLibraryIsNoDriver()
{
    const auto nvml = Nvml::open(u"/nowhere/libnvidia-ml.so.1"_s);
    QVERIFY(!nvml);
    QCOMPARE(nvml.error(), u"No NVIDIA driver was found."_s);
}

void TestNvml::aLibraryWithoutSymbolsIsTooOld()
{
    const auto nvml = Nvml::open(QStringLiteral(FIRESTEEL_FAKE_NVML_EMPTY));
    QVERIFY(!nvml);
    QCOMPARE(nvml.error(), u"The NVIDIA driver is too old to be asked."_s);
}

void TestNvml::longNamesAreCut()
{
    const Driver driver(FIRESTEEL_FAKE_NVML);
    driver.script().name.assign(500, 'x'); // fills the buffer without an end
    const auto nvml = Nvml::open(kDriver);
    QVERIFY(nvml.has_value());
    QCOMPARE((*nvml)->facts().name, QString(96, u'x'));
}

void TestNvml::everyInitIsShutDown()
{
    const Driver driver(FIRESTEEL_FAKE_NVML);
    {
        const auto nvml = Nvml::open(kDriver);
        QVERIFY(nvml.has_value());
        QCOMPARE(driver.script().initialized, 1);
    }
    QCOMPARE(driver.script().initialized, 0);
}

QTEST_GUILESS_MAIN(TestNvml)

#include "tst_nvml.moc"
