// SPDX-License-Identifier: MIT
#include "app/settings/app_settings.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <limits>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::AppSettings;

class AppSettingsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void startsWithDefaults();
    void remembers();
    void bringsStrangeValuesBackIntoRange();
    void saysNothingWhenNothingChanges();
};

void AppSettingsTest::startsWithDefaults()
{
    const QTemporaryDir folder;
    const AppSettings settings(folder.filePath(u"s.ini"_s));
    QVERIFY(!settings.windowGeometry().isValid());
    QCOMPARE(settings.appearance(), AppSettings::Appearance::System);
    QCOMPARE(settings.fontScale(), 1.0);
    QVERIFY(settings.renderer() == AppSettings::Renderer::Hardware);
    QVERIFY(settings.modelsFolder().isEmpty());
    QCOMPARE(settings.loadOptions().contextTokens, 0);
    QCOMPARE(settings.loadOptions().threads, 0);
    QCOMPARE(settings.loadOptions().memoryReserveBytes, engine::LoadOptions {}.memoryReserveBytes);
    QVERIFY(settings.endpoint() == app::EndpointSettings {});
    QVERIFY(!settings.endpoint().isEnabled);
    QCOMPARE(settings.endpoint().address, u"127.0.0.1"_s);
    QVERIFY(settings.showStatistics());
    QCOMPARE(settings.setupState(), AppSettings::SetupState::New);
    QCOMPARE(settings.setupStep(), 0);
    QVERIFY(settings.notice().isEmpty());
}

void AppSettingsTest::remembers()
{
    const QTemporaryDir folder;
    const QString file = folder.filePath(u"s.ini"_s);
    const app::EndpointSettings endpoint {
        true,           u"0.0.0.0"_s, 9000, true, { u"https://a.example"_s, u"http://b.example"_s },
        { u"spark"_s }, true,         true
    };
    {
        AppSettings settings(file);
        settings.setWindowGeometry({ 10, 20, 1280, 800 });
        settings.setAppearance(AppSettings::Appearance::Dark);
        settings.setFontScale(1.25);
        settings.setReducedMotion(true);
        settings.setSidebarFolded(true);
        settings.setPanelFolded(false);
        settings.setWindowMaximized(true);
        settings.setShowStatistics(false);
        settings.setModelsFolder(u"/big/disk"_s);
        settings.setRenderer(AppSettings::Renderer::Software);
        QVERIFY(settings.isRendererWaiting());
        engine::LoadOptions load;
        load.contextTokens = 8192;
        load.threads = 3;
        load.memoryReserveBytes = 3ULL << 29;
        settings.setLoadOptions(load);
        settings.setSetupState(AppSettings::SetupState::Left);
        settings.setSetupStep(4);
        settings.setEndpoint(endpoint);
    }
    const AppSettings settings(file);
    QCOMPARE(settings.windowGeometry(), QRect(10, 20, 1280, 800));
    QCOMPARE(settings.appearance(), AppSettings::Appearance::Dark);
    QCOMPARE(settings.fontScale(), 1.25);
    QVERIFY(settings.reducedMotion());
    QVERIFY(settings.sidebarFolded());
    QVERIFY(!settings.panelFolded());
    QVERIFY(settings.windowMaximized());
    QVERIFY(!settings.showStatistics());
    QCOMPARE(settings.modelsFolder(), u"/big/disk"_s);
    QVERIFY(settings.renderer() == AppSettings::Renderer::Software);
    QVERIFY(!settings.isRendererWaiting());
    QVERIFY(settings.endpoint() == endpoint);
    QCOMPARE(settings.loadOptions().contextTokens, 8192);
    QCOMPARE(settings.loadOptions().threads, 3);
    QCOMPARE(settings.loadOptions().memoryReserveBytes, 3ULL << 29);
    QVERIFY(settings.notice().isEmpty());
    QCOMPARE(settings.setupState(), AppSettings::SetupState::Left);
    QCOMPARE(settings.setupStep(), 4);
}

void AppSettingsTest::bringsStrangeValuesBackIntoRange()
{
    const QTemporaryDir folder;
    const QString file = folder.filePath(u"s.ini"_s);
    QFile written(file);
    QVERIFY(written.open(QIODevice::WriteOnly));
    written.write("[look]\nappearance=77\nfontScale=nan\nrenderer=vulkan\n[window]"
                  "\ngeometry=wide\n[load]\nthreads=inf\n[endpoint]\nport=99999\n"
                  "[setup]\nstate=-3\nstep=9999\n");
    written.close();
    AppSettings settings(file);
    QCOMPARE(settings.appearance(), AppSettings::Appearance::System);
    QCOMPARE(settings.fontScale(), 1.0);
    QVERIFY(settings.renderer() == AppSettings::Renderer::Hardware);
    QCOMPARE(settings.loadOptions().threads, 0);
    QCOMPARE(settings.endpoint().port, app::EndpointSettings::kDefaultPort);
    for (const auto &key : { u"look/appearance"_s, u"look/fontScale"_s, u"look/renderer"_s,
                             u"load/threads"_s, u"endpoint/port"_s })
        QVERIFY2(settings.notice().contains(key), qPrintable(settings.notice()));
    QVERIFY(!settings.windowGeometry().isValid());
    QCOMPARE(settings.setupState(), AppSettings::SetupState::New);
    QCOMPARE(settings.setupStep(), 0);
    settings.setFontScale(100);
    QCOMPARE(settings.fontScale(), AppSettings::kLargestFontScale);
    settings.setFontScale(std::numeric_limits<double>::quiet_NaN());
    QCOMPARE(settings.fontScale(), AppSettings::kLargestFontScale);
}

void AppSettingsTest::saysNothingWhenNothingChanges()
{
    const QTemporaryDir folder;
    AppSettings settings(folder.filePath(u"s.ini"_s));
    QSignalSpy changed(&settings, &AppSettings::fontScaleChanged);
    settings.setFontScale(1.0);
    QCOMPARE(changed.size(), 0);
    settings.setFontScale(1.5);
    settings.setFontScale(1.5);
    QCOMPARE(changed.size(), 1);
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::AppSettingsTest)
#include "tst_app_settings.moc"
