// SPDX-License-Identifier: MIT
//
// A drafter that was downloaded: it goes to the engine with the model it fits, and is taken away
// with its licence.
#include "app/models/model_tables.h"
#include "tests/app/stored_session.h"

#include <QDir>
#include <QFileInfo>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::EngineController;
using app::RequestParameter;

const app::CatalogModel &drafter()
{
    return *std::ranges::find(app::ModelCatalog::shipped().models(), app::ModelRole::Drafter,
                              &app::CatalogModel::role);
}

struct DrafterSession : Session
{
    using Session::Session;

    QString drafterFolder() const { return folder.filePath(u"models/drafter"_s); }

    // As a finished download leaves it.
    void download(bool isAccepted = true)
    {
        QVERIFY(QDir().mkpath(drafterFolder()));
        app::DownloadRow row;
        row.repository = drafter().repository;
        row.revision = drafter().revision;
        row.folder = drafterFolder();
        row.endpoint = u"https://huggingface.co"_s;
        const app::Consent consent { row.repository,
                                     row.revision,
                                     drafter().licenseId,
                                     "00",
                                     u"standard text"_s,
                                     u"1"_s,
                                     QDateTime::currentDateTimeUtc() };
        fill([&](const QSqlDatabase &sql) -> app::StoreResult<void> {
            const auto id = app::insertDownload(sql, row);
            if (!id)
                return std::unexpected(id.error());
            if (auto done = app::updateDownload(sql, *id, false, true); !done || !isAccepted)
                return done;
            return app::acceptLicense(sql, consent);
        });
    }

    // What the download thread tells when it has arrived, or is gone.
    void arrive(bool isHere = true) const
    {
        std::vector<app::ModelStatus> models;
        for (const app::CatalogModel &model : app::ModelCatalog::shipped().models()) {
            app::ModelStatus &status = models.emplace_back();
            status.model = model;
            if (model.role != app::ModelRole::Drafter || !isHere)
                continue;
            status.state = app::ModelStatus::State::Ready;
            status.folder = drafterFolder();
            status.consent = app::Consent { model.repository,
                                            model.revision,
                                            model.licenseId,
                                            "00",
                                            u"standard text"_s,
                                            u"1"_s,
                                            QDateTime::currentDateTimeUtc() };
        }
        application->models()->list()->setModels(std::move(models));
    }

    std::filesystem::path loadedDrafter() const { return fake->lastLoad().drafterDirectory; }
    int rowOfDrafter() const
    {
        return application->models()->list()->rowOf(drafter().repository, drafter().revision);
    }
};

} // namespace

class DrafterTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void goesToTheEngineWithTheModel();
    void staysAwayFromAModelItDoesNotFit();
    void isNotUsedWithoutConsent();
    void goesWhenItsLicenceIsWithdrawn();
    void theOneBesideTheModelComesFirst();
    void isAskedForOnlyWhereItIsLoaded();
    void waitsForAReloadWhereItComesLate();
    void waitsWhereItComesDuringTheLoad();
    void isNotOfferedToAModelItDoesNotFit();
    void isLeftOutWhereMemoryHoldsOnlyTheModel();
};

void DrafterTest::goesToTheEngineWithTheModel()
{
    DrafterSession session;
    session.download();
    QVERIFY(session.start());
    QCOMPARE(QString::fromStdString(session.loadedDrafter()), session.drafterFolder());
    QCOMPARE(session.application->engine()->drafterName(), u"DFlash2"_s);
}

void DrafterTest::staysAwayFromAModelItDoesNotFit()
{
    DrafterSession session;
    session.script.drafterError
        = engine::Error { engine::ErrorCode::UnsupportedModel, "config.json: hidden_size: 6" };
    session.download();
    QVERIFY(session.start());
    QVERIFY(session.loadedDrafter().empty());
    QVERIFY(session.application->engine()->drafterName().isEmpty());
}

void DrafterTest::isNotUsedWithoutConsent()
{
    DrafterSession session;
    session.download(false);
    QVERIFY(session.start());
    QVERIFY(session.loadedDrafter().empty());
}

void DrafterTest::goesWhenItsLicenceIsWithdrawn()
{
    DrafterSession session;
    session.download();
    QVERIFY(session.start());
    QVERIFY(!session.loadedDrafter().empty());
    session.application->models()->withdraw(session.rowOfDrafter());
    QTRY_VERIFY(session.loadedDrafter().empty());
    QTRY_COMPARE(session.application->engine()->state(), EngineController::State::Ready);
    QVERIFY(session.application->engine()->drafterName().isEmpty());
    QTRY_VERIFY(!QFileInfo::exists(session.drafterFolder()));
    QVERIFY(session.start());
    QVERIFY(session.loadedDrafter().empty());
}

void DrafterTest::theOneBesideTheModelComesFirst()
{
    DrafterSession session;
    session.location = { "/models/glimmer", {}, "/models/beside" };
    session.download();
    QVERIFY(session.start());
    QCOMPARE(session.loadedDrafter(), std::filesystem::path("/models/beside"));
    // It is not the one whose licence goes.
    session.application->models()->withdraw(session.rowOfDrafter());
    QTRY_VERIFY(!QFileInfo::exists(session.drafterFolder()));
    QCOMPARE(session.application->engine()->state(), EngineController::State::Ready);
    QCOMPARE(session.loadedDrafter(), std::filesystem::path("/models/beside"));
}

void DrafterTest::isAskedForOnlyWhereItIsLoaded()
{
    DrafterSession session;
    QVERIFY(session.start());
    app::ParameterListModel &parameters = *session.chat()->options()->parameters();
    const int row = static_cast<int>(RequestParameter::Drafter);
    parameters.setNumber(row, 3);
    QCOMPARE(parameters.index(row).data(app::ParameterListModel::TextRole), u"DFlash2"_s);
    QVERIFY(session.say(u"How?"_s));
    QVERIFY(session.fake->lastRequest().drafting.drafter == engine::DrafterKind::Auto);
    session.stop();
    session.download();
    QVERIFY(session.start());
    session.chat()->options()->parameters()->setNumber(row, 3);
    QVERIFY(session.say(u"How?"_s));
    QVERIFY(session.fake->lastRequest().drafting.drafter == engine::DrafterKind::Dflash2);
}

void DrafterTest::waitsForAReloadWhereItComesLate()
{
    DrafterSession session;
    QVERIFY(session.start());
    QVERIFY(session.say(u"How?"_s));
    const QList<int> rows = session.types();
    EngineController &engine = *session.engine();
    QVERIFY(!engine.isDrafterWaiting());
    session.arrive();
    QTRY_VERIFY(engine.isDrafterOffered());
    QVERIFY(session.loadedDrafter().empty()); // nothing was loaded unasked
    engine.putOffDrafter();
    QVERIFY(!engine.isDrafterOffered());
    QVERIFY(engine.isDrafterWaiting());
    engine.reload();
    QTRY_COMPARE(engine.drafterName(), u"DFlash2"_s);
    QCOMPARE(engine.state(), EngineController::State::Ready);
    QVERIFY(!engine.isDrafterWaiting());
    QCOMPARE(session.types(), rows);
    QVERIFY(session.say(u"And now?"_s));
}

void DrafterTest::waitsWhereItComesDuringTheLoad()
{
    DrafterSession session;
    session.script.loadStageTime = std::chrono::milliseconds(200);
    session.make();
    QSignalSpy listed(session.application->models(), &app::ModelsController::listed);
    session.application->start();
    QTRY_COMPARE(listed.size(), 1);
    QTRY_COMPARE(session.engine()->state(), EngineController::State::Loading);
    session.arrive();
    QTRY_VERIFY(session.engine()->isDrafterOffered());
    QVERIFY(session.loadedDrafter().empty());
    session.arrive(false);
    QVERIFY(!session.engine()->isDrafterWaiting());
}

void DrafterTest::isNotOfferedToAModelItDoesNotFit()
{
    DrafterSession session;
    session.script.drafterError
        = engine::Error { engine::ErrorCode::UnsupportedModel, "config.json: hidden_size: 6" };
    QVERIFY(session.start());
    QSignalSpy considered(session.engine(), &EngineController::drafterWaitingChanged);
    session.arrive();
    QTRY_COMPARE(considered.size(), 2); // begun and done
    QVERIFY(!session.engine()->isDrafterWaiting());
}

void DrafterTest::isLeftOutWhereMemoryHoldsOnlyTheModel()
{
    DrafterSession session;
    session.script.drafterBytes = session.script.availableBytes;
    session.download();
    QVERIFY(session.start());
    QVERIFY(session.loadedDrafter().empty());
    QVERIFY(!session.engine()->isDrafterWaiting());
}

} // namespace firesteel::test

QTEST_MAIN(firesteel::test::DrafterTest)

#include "tst_drafter.moc"
