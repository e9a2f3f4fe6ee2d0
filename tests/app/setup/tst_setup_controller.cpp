// SPDX-License-Identifier: MIT
//
// The first run as a person walks through it: leaving, coming back, finishing; what it knows of the
// models.
#include "app/models/models_controller.h"
#include "app/settings/app_settings.h"
#include "app/setup/setup_controller.h"
#include "app/store/database_thread.h"
#include "tests/app/setup/machine_files.h"

#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::AppSettings;
using app::SetupController;
using Step = SetupController::Step;
using State = app::ModelStatus::State;

class SetupControllerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void isWantedOnce();
    void goesOnWhereItWasLeft();
    void endsAfterTheLastStep();
    void survivesAStrangeStep();
    void checksTheMachine();
    void followsTheFolderOfModels();
    void keepsTheFolderThatWorks();
    void knowsWhereTheModelStands();
    void loadsOnlyWhatIsVerified();

private:
    void open(const QString &machine = u"spark"_s);
    void show(State target, State drafter);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<app::DatabaseThread> m_database;
    std::unique_ptr<AppSettings> m_settings;
    std::unique_ptr<app::ModelsController> m_models;
    std::unique_ptr<SetupController> m_setup;
};

void SetupControllerTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    open();
}

void SetupControllerTest::cleanup()
{
    m_setup.reset();
    m_models.reset();
    m_settings.reset();
    m_database.reset();
    m_folder.reset();
}

// Also as a later start of the program, with what the one before has stored.
void SetupControllerTest::open(const QString &machine)
{
    m_setup.reset();
    m_models.reset();
    m_settings.reset();
    m_database.reset();
    writeMachine(m_folder->filePath(u"proc"_s), machine);
    m_database = std::make_unique<app::DatabaseThread>(m_folder->filePath(u"firesteel.db"_s));
    m_settings = std::make_unique<AppSettings>(m_folder->filePath(u"settings.ini"_s));
    app::ModelsController::Setup setup;
    setup.downloads.hub.endpoint = QUrl(u"http://127.0.0.1:9"_s); // nobody answers
    setup.downloads.modelsFolder = m_folder->filePath(u"models"_s);
    m_models = std::make_unique<app::ModelsController>(*m_database, std::move(setup));
    m_setup
        = std::make_unique<SetupController>(*m_settings, *m_models, m_folder->filePath(u"proc"_s));
}

void SetupControllerTest::show(State target, State drafter)
{
    std::vector<app::ModelStatus> models;
    for (const app::CatalogModel &model : app::ModelCatalog::shipped().models()) {
        app::ModelStatus status;
        status.model = model;
        status.state = model.role == app::ModelRole::Target ? target : drafter;
        status.totalBytes = model.bytes;
        status.bytes = status.state == State::Ready ? model.bytes
            : status.state == State::Paused         ? model.bytes / 2
                                                    : 0;
        if (status.state != State::Available) {
            status.folder = u"/models/"_s + model.id;
            status.consent.emplace();
        }
        models.push_back(status);
    }
    m_models->list()->setModels(std::move(models));
}

void SetupControllerTest::isWantedOnce()
{
    QVERIFY(m_setup->isWanted());
    QVERIFY(!m_setup->isFinished());
    open(); // closed without a decision: it comes again
    QVERIFY(m_setup->isWanted());
    m_setup->leave();
    QVERIFY(!m_setup->isWanted());
    open();
    QVERIFY(!m_setup->isWanted());
    QVERIFY(!m_setup->isFinished()); // it is offered, not shown
}

void SetupControllerTest::goesOnWhereItWasLeft()
{
    const QSignalSpy moved(m_setup.get(), &SetupController::stepChanged);
    QCOMPARE(m_setup->step(), Step::Check);
    m_setup->back(); // there is nothing before it
    QCOMPARE(m_setup->step(), Step::Check);
    m_setup->next();
    m_setup->next();
    QCOMPARE(m_setup->step(), Step::Licences);
    QCOMPARE(moved.size(), 2);
    m_setup->leave();
    open();
    QCOMPARE(m_setup->step(), Step::Licences);
    m_setup->back();
    QCOMPARE(m_setup->step(), Step::Folder);
    m_setup->show(Step::Load);
    QCOMPARE(m_setup->step(), Step::Load);
}

void SetupControllerTest::endsAfterTheLastStep()
{
    for (int i = 0; i < 5; ++i)
        m_setup->next();
    QCOMPARE(m_setup->step(), Step::Benchmark);
    QVERIFY(!m_setup->isFinished());
    m_setup->next();
    QVERIFY(m_setup->isFinished());
    QCOMPARE(m_setup->step(), Step::Check); // if it is opened again
    m_setup->leave(); // what is finished stays finished
    open();
    QVERIFY(m_setup->isFinished());
    QVERIFY(!m_setup->isWanted());
}

void SetupControllerTest::survivesAStrangeStep()
{
    m_settings->setSetupStep(17); // of a version that has more steps
    QCOMPARE(m_setup->step(), Step::Benchmark);
    m_setup->show(static_cast<Step>(-4));
    QCOMPARE(m_setup->step(), Step::Check);
}

void SetupControllerTest::checksTheMachine()
{
    show(State::Available, State::Ready);
    QVERIFY(m_setup->verdict().isEmpty());
    m_setup->check();
    QVERIFY(m_setup->isChecking());
    QTRY_VERIFY(!m_setup->isChecking());
    QCOMPARE(m_setup->checks().size(), 4);
    QVERIFY(m_setup->isCapable());
    QVERIFY(m_setup->verdict().contains(u"can run"_s));
    QTRY_VERIFY(!m_setup->isChecking());
    // The target is still to come, the drafter is here: 85.2 GB and the reserve of 5 GB.
    QVERIFY2(m_setup->checks()[3].needed.contains(u"90.2 GB"_s),
             qPrintable(m_setup->checks()[3].needed));

    show(State::Ready, State::Ready); // what is here needs no room any more
    QVERIFY(m_setup->checks()[3].isGood);
    QVERIFY(m_setup->checks()[3].needed.contains(u"Nothing is left"_s));

    open(u"laptop"_s);
    m_setup->check(); // before the models are listed: all of them are to come
    QTRY_VERIFY(!m_setup->isChecking());
    QVERIFY2(m_setup->checks()[3].needed.contains(u"92.6 GB"_s),
             qPrintable(m_setup->checks()[3].needed));
    QVERIFY(!m_setup->isCapable());
    QVERIFY(m_setup->verdict().contains(u"Glimmer"_s));
}

void SetupControllerTest::followsTheFolderOfModels()
{
    const QString folder = m_folder->filePath(u"elsewhere/models"_s);
    m_models->setModelsFolder(QUrl::fromLocalFile(folder));
    QTRY_COMPARE(m_models->modelsFolder(), folder);
    QVERIFY(QDir(folder).exists());
    QCOMPARE(QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             QStringList());
    QTRY_COMPARE(m_setup->checks().size(), 4); // looked at again, unasked
}

void SetupControllerTest::keepsTheFolderThatWorks()
{
    const QString before = m_models->modelsFolder();
    QFile file(m_folder->filePath(u"a file"_s));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    m_models->setModelsFolder(QUrl::fromLocalFile(file.fileName() + u"/models"_s));
    QTRY_VERIFY(m_models->notice().contains(u"cannot write"_s));
    QCOMPARE(m_models->modelsFolder(), before);
}

void SetupControllerTest::knowsWhereTheModelStands()
{
    QCOMPARE(m_setup->targetRow(), -1);
    QVERIFY(!m_setup->isAccepted() && !m_setup->isDownloaded() && !m_setup->isInUse());
    const QSignalSpy changed(m_setup.get(), &SetupController::modelChanged);
    show(State::Available, State::Available);
    QCOMPARE(m_setup->targetRow(), 0);
    QVERIFY(!m_setup->isAccepted());
    show(State::Paused, State::Available);
    QVERIFY(m_setup->isAccepted());
    QVERIFY(!m_setup->isDownloaded());
    show(State::Ready, State::Available);
    QVERIFY(m_setup->isDownloaded());
    QVERIFY(!m_setup->isInUse());
    m_models->setFolderInUse(u"/models/glm-5.3-flash"_s);
    QVERIFY(m_setup->isInUse());
    QVERIFY(changed.size() >= 4);
}

void SetupControllerTest::loadsOnlyWhatIsVerified()
{
    const QSignalSpy used(m_models.get(), &app::ModelsController::useRequested);
    show(State::Paused, State::Ready);
    m_setup->load();
    QCOMPARE(used.size(), 0);
    show(State::Ready, State::Available);
    m_setup->load();
    QCOMPARE(used.size(), 1);
    QCOMPARE(used.first().first().toString(), u"/models/glm-5.3-flash"_s);
    m_models->useShipped(); // that is what answers anyhow
    QCOMPARE(used.size(), 1);
    m_models->setFolderInUse(u"/models/glm-5.3-flash"_s);
    m_models->useShipped();
    QCOMPARE(used.size(), 2);
    QCOMPARE(used.last().first().toString(), QString());
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::SetupControllerTest)
#include "tst_setup_controller.moc"
