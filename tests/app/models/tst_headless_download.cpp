// SPDX-License-Identifier: MIT
//
// firesteel itself without a window or a display: licences are accepted by name only, a download
// ends ready, what goes wrong is said and ends with 1.
#include "tests/app/models/hub_fixture.h"

#include <QDir>
#include <QSettings>
#include <QTest>

using namespace firesteel;
using namespace firesteel::test;
using namespace Qt::Literals::StringLiterals;

class HeadlessDownloadTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void refusesWhatTheCatalogueDoesNotList();
    void needsTheLicenseByName();
    void downloadsWhatWasAccepted();

private:
    struct Outcome
    {
        int code = -1;
        QByteArray output;
        QByteArray errors;
    };
    Outcome run(const QStringList &arguments);

    QTemporaryDir m_home;
    std::unique_ptr<HubFixture> m_hub;
    const app::CatalogModel &m_target = app::ModelCatalog::shipped().models().front();
    const QString m_key = m_target.repository + u'@' + m_target.revision;
};

HeadlessDownloadTest::Outcome HeadlessDownloadTest::run(const QStringList &arguments)
{
    QProcess process;
    QProcessEnvironment environment;
    environment.insert(u"HOME"_s, m_home.path());
    environment.insert(u"PATH"_s, qEnvironmentVariable("PATH"));
    environment.insert(u"XDG_DATA_HOME"_s, m_home.filePath(u"data"_s));
    environment.insert(u"HF_ENDPOINT"_s,
                       m_hub ? m_hub->endpoint().toString() + u'/' : u"http://127.0.0.1:9"_s);
    process.setProcessEnvironment(environment); // no DISPLAY, no session bus
    process.start(QStringLiteral(FIRESTEEL_PROGRAM), arguments);
    if (!process.waitForFinished(60'000))
        process.kill();
    return { process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError() };
}

void HeadlessDownloadTest::refusesWhatTheCatalogueDoesNotList()
{
    const Outcome outcome = run({ u"--download"_s, u"owner/model@main"_s });
    QCOMPARE(outcome.code, 1);
    QVERIFY(outcome.errors.contains("owner/model@main is not in the catalogue"));
    QVERIFY(outcome.errors.contains(m_key.toUtf8()));
}

void HeadlessDownloadTest::needsTheLicenseByName()
{
    const Outcome outcome = run({ u"--download"_s, m_key });
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.errors.contains("--accept-license"), outcome.errors.constData());
}

void HeadlessDownloadTest::downloadsWhatWasAccepted()
{
    m_hub = std::make_unique<HubFixture>(m_target.repository, m_target.revision);
    if (HubFixture::findNginx().isEmpty())
        QSKIP("nginx is not installed"); // CTest reports the whole suite as skipped
    const QString problem = m_hub->start();
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    const Outcome accepted = run({ u"--accept-license"_s, m_key });
    QVERIFY2(accepted.code == 0, accepted.errors.constData());
    QVERIFY(accepted.output.contains("MIT License, text with SHA-256"));
    QCOMPARE(m_hub->sentBytes(u"weights"_s), 0); // accepting downloads nothing

    // Into the folder that was chosen in the window.
    const QString models = m_home.filePath(u"other disk/models"_s);
    QVERIFY(QDir(m_home.path()).mkpath(u".config/firesteel"_s));
    QSettings(m_home.filePath(u".config/firesteel/firesteel.ini"_s), QSettings::IniFormat)
        .setValue(u"model/modelsFolder"_s, models);
    const Outcome downloaded = run({ u"--download"_s, m_key });
    const QString folder
        = app::DownloadManager::folderOf(models, m_target.repository, m_target.revision);
    if (downloaded.errors.contains("needed")) // the reserve of a real download
        QSKIP("less than the reserve is free on this disk");
    QVERIFY2(downloaded.code == 0, downloaded.errors.constData());
    QVERIFY(downloaded.output.contains("ready in " + folder.toUtf8()));
    for (const HubFileContent &expected : m_hub->files()) {
        QFile file(folder + u'/' + expected.path);
        QVERIFY2(file.open(QIODevice::ReadOnly) && file.readAll() == expected.bytes,
                 qPrintable(expected.path));
    }
}

QTEST_GUILESS_MAIN(HeadlessDownloadTest)
#include "tst_headless_download.moc"
