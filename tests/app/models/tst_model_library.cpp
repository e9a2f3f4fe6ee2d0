// SPDX-License-Identifier: MIT
//
// What is asked before a download and kept after it: licences, consent and its withdrawal, files
// of other programs, folders of a person's own.
#include "tests/app/models/download_test.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>

#include <algorithm>
#include <sys/stat.h>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using State = app::ModelStatus::State;
using Kind = app::ModelProblem::Kind;

class ModelLibraryTest : public DownloadTest
{
    Q_OBJECT

private Q_SLOTS:
    void readsTheTerms();
    void tellsGatedStatesApart_data();
    void tellsGatedStatesApart();
    void asksAgainWhenTheLicenseIsAnother();
    void refusesOtherWeights();
    void takesFilesFromAnotherProgramsCache();
    void distrustsADamagedCache();
    void withdrawingDeletesEverything();
    void withdrawingReachesEveryFolder();
    void findsModelsThatWereMoved();
    void goesOnWithAMovedDownload();
    void addsFolders();
};

void ModelLibraryTest::readsTheTerms()
{
    open();
    m_session->call([](auto &manager) { manager.inquire(kRepository, kRevision); });
    QTRY_VERIFY(m_session->terms());
    const app::LicenseTerms &terms = *m_session->terms();
    QCOMPARE(terms.licenseId, u"MIT"_s);
    QVERIFY(terms.isStated && terms.isAsExpected);
    QCOMPARE(terms.text, u"Do what you like. Keep this notice.\n"_s);
    QCOMPARE(terms.textSource, u"LICENSE"_s);
    QCOMPARE(terms.files.size(), m_hub.files().size()); // both pages
    QVERIFY(!m_session->status().consent);
    // Asking is not accepting.
    m_session->call([](auto &manager) { manager.enqueue(kRepository, kRevision); });
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, Kind::ConsentNeeded);
    QCOMPARE(m_hub.sentBytes(u"weights"_s), 0);
}

void ModelLibraryTest::tellsGatedStatesApart_data()
{
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<Kind>("kind");
    QTest::newRow("no token") << QByteArray() << 401 << QByteArray("restricted")
                              << Kind::TokenNeeded;
    QTest::newRow("bad token") << QByteArray("hf_x") << 401 << QByteArray("") << Kind::TokenInvalid;
    QTest::newRow("terms") << QByteArray("hf_x") << 403
                           << QByteArray("you are not in the authorized list")
                           << Kind::TermsNotAccepted;
    QTest::newRow("pending") << QByteArray("hf_x") << 403
                             << QByteArray("awaiting a review from the repo authors")
                             << Kind::ApprovalPending;
    QTest::newRow("rejected") << QByteArray("hf_x") << 403 << QByteArray("has been rejected")
                              << Kind::ApprovalRefused;
}

void ModelLibraryTest::tellsGatedStatesApart()
{
    QFETCH(const QByteArray, token);
    QFETCH(const int, status);
    QFETCH(const QByteArray, message);
    QFETCH(const Kind, kind);
    m_hub.setFaults("[{'side': 'hub', 'status': " + QByteArray::number(status)
                    + ", 'headers': {'X-Error-Code': 'GatedRepo', 'X-Error-Message': '" + message
                    + "'}}]");
    open();
    m_session->call([token](auto &manager) { manager.setToken(token); });
    m_session->call([](auto &manager) { manager.inquire(kRepository, kRevision); });
    QTRY_VERIFY(m_session->termsProblem());
    QCOMPARE(m_session->termsProblem()->kind, kind);
}

void ModelLibraryTest::asksAgainWhenTheLicenseIsAnother()
{
    open();
    m_session->call([](auto &manager) { manager.inquire(kRepository, kRevision); });
    QTRY_VERIFY(m_session->terms());
    app::LicenseTerms other = *m_session->terms();
    other.textSha256 = QByteArray(64, '0');
    m_session->call([other](auto &manager) { manager.accept(other); });
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, Kind::LicenseChanged);
    QCOMPARE(m_hub.sentBytes(u"weights"_s), 0);
    m_session->accept();
    QVERIFY(reach(State::Ready));
}

void ModelLibraryTest::refusesOtherWeights()
{
    const app::ModelCatalog right = m_catalog;
    QByteArray json = m_hub.catalogJson();
    const QByteArray digest = right.models().front().weights.front().sha256;
    m_catalog = HubFixture::parseCatalog(json.replace(digest, QByteArray(64, 'a')));
    open();
    m_session->accept();
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, Kind::WrongWeights);
    QCOMPARE(m_hub.sentBytes(u"weights"_s), 0);
    m_session.reset();
    m_catalog = right;
}

void ModelLibraryTest::takesFilesFromAnotherProgramsCache()
{
    const QString cache = m_folder->filePath(u"hub"_s);
    const QString blobs = cache + u"/models--owner--model/blobs"_s;
    QVERIFY(QDir().mkpath(blobs));
    const QByteArray digest = m_catalog.models().front().weights.front().sha256;
    const QString blob = blobs + u'/' + QString::fromLatin1(digest);
    QFile file(blob);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(m_hub.files().back().bytes);
    file.close();
    file.setPermissions(QFile::ReadOwner);
    struct stat before = {};
    QCOMPARE(::stat(QFile::encodeName(blob).constData(), &before), 0);

    app::DownloadManager::Setup reusing = setup();
    reusing.job.cacheFolder = cache;
    open(reusing);
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    QCOMPARE(m_hub.sentBytes(u"weights"_s), 0);
    // Removing ours leaves theirs as it was.
    m_session->call([](auto &manager) { manager.remove(kRepository, kRevision); });
    QVERIFY(reach(State::Available));
    struct stat after = {};
    QCOMPARE(::stat(QFile::encodeName(blob).constData(), &after), 0);
    QCOMPARE(after.st_ino, before.st_ino);
    QCOMPARE(after.st_mtime, before.st_mtime);
    QCOMPARE(after.st_mode, before.st_mode);
    QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll() == m_hub.files().back().bytes);
    QCOMPARE(QDir(blobs).entryList(QDir::Files).size(), 1);
}

void ModelLibraryTest::distrustsADamagedCache()
{
    const QString cache = m_folder->filePath(u"hub"_s);
    const QString snapshot = cache + u"/models--owner--model/snapshots/"_s + kRevision;
    QVERIFY(QDir().mkpath(snapshot));
    QByteArray damaged = m_hub.files().back().bytes;
    damaged[5'000'000] = static_cast<char>(damaged[5'000'000] ^ 1);
    QFile file(snapshot + u"/weights.safetensors"_s);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(damaged);
    file.close();
    app::DownloadManager::Setup reusing = setup();
    reusing.job.cacheFolder = cache;
    open(reusing);
    m_session->accept();
    QVERIFY(reach(State::Ready));
    QVERIFY(isWhole());
    QVERIFY(std::ranges::count(m_session->states(), State::Checking) > 0);
    QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll() == damaged);
}

void ModelLibraryTest::withdrawingDeletesEverything()
{
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    const QString conversion = app::DownloadManager::conversionsOf(modelFolder());
    QVERIFY(QDir().mkpath(conversion + u"/int8"_s));
    QFile converted(conversion + u"/int8/weights"_s);
    QVERIFY(converted.open(QIODevice::WriteOnly));
    converted.close();
    m_session->call([](auto &manager) { manager.withdraw(kRepository, kRevision); });
    QVERIFY(reach(State::Available));
    QVERIFY(!m_session->status().consent);
    QCOMPARE(
        QDir(QFileInfo(modelFolder()).path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
        QStringList());
    // Also where the program was killed between: what no consent covers is deleted at the start.
    QVERIFY(QDir().mkpath(conversion));
    QVERIFY(QDir().mkpath(modelFolder()));
    open();
    QTRY_VERIFY(!QFileInfo::exists(conversion) && !QFileInfo::exists(modelFolder()));
    m_session->call([](auto &manager) { manager.enqueue(kRepository, kRevision); });
    QVERIFY(reach(State::Failed));
    QCOMPARE(m_session->status().problem.kind, Kind::ConsentNeeded);
}

// What was converted from a folder of the person's own, and what lies in a folder of models that is
// no longer the chosen one, also after a kill in the middle.
void ModelLibraryTest::withdrawingReachesEveryFolder()
{
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    const QString own = m_folder->filePath(u"own drafter"_s);
    QVERIFY(QDir().mkpath(own));
    for (const HubFileContent &content : m_hub.files()) {
        if (!content.path.contains(u'/'))
            QVERIFY(QFile::copy(modelFolder() + u'/' + content.path, own + u'/' + content.path));
    }
    QFile config(own + u"/config.json"_s);
    QVERIFY(config.remove() && config.open(QIODevice::WriteOnly));
    config.write("{\"architectures\": [\"DFlash2DraftModel\"]}");
    config.close();
    m_session->call([own](auto &manager) { manager.addFolder(own); });
    QTRY_COMPARE(m_session->models().size(), 2U);
    const QString converted = app::DownloadManager::conversionsOf(own);
    QVERIFY(QDir().mkpath(converted + u"/int8"_s));
    const QString elsewhere = m_folder->filePath(u"elsewhere"_s);
    m_session->call([elsewhere](auto &manager) { manager.setModelsFolder(elsewhere); });
    QTRY_VERIFY(QFileInfo::exists(elsewhere));
    m_session->call([](auto &manager) { manager.withdraw(kRepository, kRevision); });
    QVERIFY(reach(State::Available));
    QTRY_VERIFY(!QFileInfo::exists(modelFolder()));
    QTRY_VERIFY(!QFileInfo::exists(converted));
    QVERIFY(QFileInfo::exists(own + u"/weights.safetensors"_s)); // theirs
    QCOMPARE(m_session->models().size(), 1U); // but forgotten

    // A kill after the withdrawal and before the files are gone.
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    m_session.reset();
    app::DatabaseThread(m_folder->filePath(u"firesteel.db"_s)).write([](const QSqlDatabase &sql) {
        return app::withdrawLicense(sql, kRepository, kRevision, QDateTime::currentDateTimeUtc());
    });
    QVERIFY(QFileInfo::exists(modelFolder()));
    app::DownloadManager::Setup there = setup();
    there.modelsFolder = elsewhere;
    open(there);
    QTRY_VERIFY(!QFileInfo::exists(modelFolder()));
    QVERIFY(reach(State::Available));
    open(there);
    QTRY_VERIFY(m_session->isLoaded());
    QVERIFY(reach(State::Available)); // nothing is left of it
}

void ModelLibraryTest::findsModelsThatWereMoved()
{
    open();
    m_session->accept();
    QVERIFY(reach(State::Ready));
    m_session.reset();
    const QString other = m_folder->filePath(u"other disk"_s);
    const QString moved = app::DownloadManager::folderOf(other, kRepository, kRevision);
    QVERIFY(QDir().mkpath(QFileInfo(moved).path()));
    QVERIFY(QFile::rename(modelFolder(), moved));
    QFile weights(moved + u"/weights.safetensors"_s); // and a byte fell over on the way
    QVERIFY(weights.open(QIODevice::ReadWrite) && weights.seek(5'000'000));
    weights.write("\x55\xaa", 2);
    weights.close();

    open(); // not told yet
    QVERIFY(reach(State::Missing));
    m_hub.forgetRequests();
    app::DownloadManager::Setup there = setup();
    there.modelsFolder = other;
    open(there);
    QVERIFY(reach(State::Ready));
    QCOMPARE(m_session->status().folder, moved);
    QVERIFY(std::ranges::count(m_session->states(), State::Checking) > 0);
    QCOMPARE(m_hub.sentBytes(QString()), m_hub.sentBytes(u"weights"_s)); // nothing but the damage
    QVERIFY(m_hub.sentBytes(u"weights"_s) >= kWeightsBytes);
    QVERIFY(weights.open(QIODevice::ReadOnly));
    QVERIFY(weights.readAll() == m_hub.files().back().bytes);
    weights.close();
    open(there); // and is known there
    QVERIFY(reach(State::Ready));
    QVERIFY(!std::ranges::count(m_session->states(), State::Checking));
}

void ModelLibraryTest::goesOnWithAMovedDownload()
{
    m_hub.setFaults("[{'side': 'content', 'path': 'weights', 'slow': 800000}]");
    open();
    m_session->accept();
    QTRY_VERIFY_WITH_TIMEOUT(m_session->status().bytes > 4'000'000, 20'000);
    m_session->call([](auto &manager) { manager.pause(kRepository, kRevision); });
    QVERIFY(reach(State::Paused));
    const qint64 bytes = m_session->status().bytes;
    const QString other = m_folder->filePath(u"other disk"_s);
    const QString moved = app::DownloadManager::folderOf(other, kRepository, kRevision);
    QVERIFY(QDir().mkpath(QFileInfo(moved).path()));
    QVERIFY(QFile::rename(app::DownloadJob::partialFolder(modelFolder()),
                          app::DownloadJob::partialFolder(moved)));
    m_hub.setFaults("[]");
    m_hub.forgetRequests();
    m_session->call([other](auto &manager) { manager.setModelsFolder(other); });
    QTRY_COMPARE(m_session->modelsFolder(), other);
    m_session->call([](auto &manager) { manager.resume(kRepository, kRevision); });
    QVERIFY(reach(State::Ready));
    QCOMPARE(m_session->status().folder, moved);
    QTRY_COMPARE(m_hub.sentBytes(QString()), m_hub.totalBytes() - bytes);
}

void ModelLibraryTest::addsFolders()
{
    const auto make
        = [this](const QString &name, const QByteArray &config, const QByteArray &weights) {
              const QString folder = m_folder->filePath(name);
              QDir().mkpath(folder);
              QFile a(folder + u"/config.json"_s);
              QFile b(folder + u"/weights.safetensors"_s);
              if (!a.open(QIODevice::WriteOnly) || !b.open(QIODevice::WriteOnly))
                  qFatal("cannot write");
              a.write(config);
              b.write(weights);
              return folder;
          };
    open();
    QTRY_VERIFY(m_session->isLoaded());
    const QString empty = m_folder->path();
    m_session->call([empty](auto &manager) { manager.addFolder(empty); });
    QTRY_VERIFY(m_session->refusal());
    QCOMPARE(m_session->refusal()->kind, Kind::NotAModel);

    const QString target = make(u"a target"_s, "{\"architectures\": [\"Glm\"]}", "x");
    m_session->call([target](auto &manager) { manager.addFolder(target); });
    QTRY_COMPARE(m_session->models().size(), 2U);
    QCOMPARE(m_session->models()[1].state, State::Added);
    QCOMPARE(m_session->models()[1].folder, target);
    QCOMPARE(m_session->models()[1].model.role, app::ModelRole::Target);

    // A drafter is told by its bytes, and its licence holds here too.
    const QByteArray config = "{\"architectures\": [\"DFlash2DraftModel\"]}";
    const QString drafter = make(u"a drafter"_s, config, m_hub.files().back().bytes);
    m_session->call([drafter](auto &manager) { manager.addFolder(drafter); });
    QTRY_COMPARE(m_session->refusal()->kind, Kind::ConsentNeeded);
    m_session->accept();
    QVERIFY(reach(State::Ready));
    m_session->call([drafter](auto &manager) { manager.addFolder(drafter); });
    QTRY_COMPARE(m_session->models().size(), 3U);
    QCOMPARE(m_session->models()[2].state, State::Added);
    QCOMPARE(m_session->models()[2].model.name, u"Model"_s);
    QByteArray changed = m_hub.files().back().bytes;
    changed[100] = static_cast<char>(changed[100] ^ 1);
    const QString other = make(u"other weights"_s, config, changed);
    m_session->call([other](auto &manager) { manager.addFolder(other); });
    QTRY_COMPARE(m_session->models().size(), 4U);
    QCOMPARE(m_session->models()[3].state, State::OtherWeights);

    open(); // they are remembered, and what is gone is said
    QVERIFY(QDir(target).removeRecursively());
    QTRY_COMPARE(m_session->models().size(), 4U);
    QCOMPARE(m_session->models()[1].state, State::Missing);
    m_session->call([target](auto &manager) { manager.forgetFolder(target); });
    QTRY_COMPARE(m_session->models().size(), 3U);
    QVERIFY(QFileInfo::exists(drafter));
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::ModelLibraryTest)
#include "tst_model_library.moc"
