// SPDX-License-Identifier: MIT
#include "app/setup/setup_controller.h"

#include "app/models/models_controller.h"
#include "app/settings/app_settings.h"

#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

constexpr int kLastStep = static_cast<int>(SetupController::Step::Benchmark);

} // namespace

SetupController::SetupController(AppSettings &settings, ModelsController &models,
                                 QString procFolder, QObject *parent)
    : QObject(parent)
    , m_settings(settings)
    , m_models(models)
    , m_procFolder(std::move(procFolder))
{
    connect(&settings, &AppSettings::setupStepChanged, this, &SetupController::stepChanged);
    connect(&settings, &AppSettings::setupStateChanged, this, &SetupController::stateChanged);
    connect(&models, &ModelsController::modelsFolderChanged, this, &SetupController::check);
    connect(&models, &ModelsController::folderInUseChanged, this, &SetupController::modelChanged);
    const ModelListModel *list = models.list();
    const auto onModels = [this] {
        judge(); // what is still to be downloaded has changed
        Q_EMIT modelChanged();
    };
    connect(list, &ModelListModel::modelReset, this, onModels);
    connect(list, &ModelListModel::dataChanged, this, onModels);
}

void SetupController::check()
{
    if (m_isChecking) {
        m_isOutdated = true;
        return;
    }
    m_isChecking = true;
    Q_EMIT checked();
    QtConcurrent::run([proc = m_procFolder, folder = m_models.modelsFolder()] {
        return readMachineFacts(proc, folder);
    }).then(this, [this](const MachineFacts &facts) {
        m_facts = facts;
        m_isChecking = false;
        if (std::exchange(m_isOutdated, false))
            check();
        judge();
        Q_EMIT checked();
    });
}

void SetupController::judge()
{
    if (!m_facts)
        return;
    MachineNeeds needs;
    needs.diskBytes = neededDisk();
    QList<MachineCheck> checks = checkMachine(*m_facts, needs);
    if (checks == m_checks)
        return;
    m_checks = std::move(checks);
    Q_EMIT checked();
}

SetupController::Step SetupController::step() const
{
    return static_cast<Step>(std::min(m_settings.setupStep(), kLastStep));
}

void SetupController::show(Step step)
{
    m_settings.setSetupStep(std::clamp(static_cast<int>(step), 0, kLastStep));
}

void SetupController::next()
{
    if (step() == Step::Benchmark)
        finish();
    else
        m_settings.setSetupStep(static_cast<int>(step()) + 1);
}

void SetupController::back()
{
    if (step() != Step::Check)
        m_settings.setSetupStep(static_cast<int>(step()) - 1);
}

void SetupController::leave()
{
    if (!isFinished())
        m_settings.setSetupState(AppSettings::SetupState::Left);
}

void SetupController::finish()
{
    m_settings.setSetupState(AppSettings::SetupState::Finished);
    m_settings.setSetupStep(0); // where it begins if it is opened again
}

void SetupController::load()
{
    if (isDownloaded())
        m_models.use(targetRow());
}

bool SetupController::isWanted() const
{
    return m_settings.setupState() == AppSettings::SetupState::New;
}

bool SetupController::isFinished() const
{
    return m_settings.setupState() == AppSettings::SetupState::Finished;
}

QString SetupController::verdict() const
{
    if (m_checks.isEmpty())
        return {};
    return isCapable()
        ? tr("GLM-5.3-Flash can run on this machine.")
        : tr("GLM-5.3-Flash cannot run on this machine. Glimmer, a small demonstration model that "
             "came with Firesteel, chats here on the processor.");
}

int SetupController::targetRow() const
{
    const ModelListModel *list = m_models.list();
    for (int row = 0; row < list->rowCount(); ++row) {
        const CatalogModel &model = list->at(row)->model;
        if (model.role == ModelRole::Target && !model.id.isEmpty())
            return row;
    }
    return -1;
}

const ModelStatus *SetupController::target() const { return m_models.list()->at(targetRow()); }

bool SetupController::isAccepted() const
{
    const ModelStatus *status = target();
    return status != nullptr && status->consent.has_value();
}

bool SetupController::isDownloaded() const
{
    const ModelStatus *status = target();
    return status != nullptr && status->state == ModelStatus::State::Ready;
}

bool SetupController::isInUse() const
{
    const ModelStatus *status = target();
    return status != nullptr && !status->folder.isEmpty()
        && status->folder == m_models.folderInUse();
}

// Of everything in the catalogue that is not here yet, as DownloadJob reckons it: one reserve.
qint64 SetupController::neededDisk() const
{
    qint64 missing = 0;
    const ModelListModel *list = m_models.list();
    if (list->rowCount() == 0) { // not read yet
        for (const CatalogModel &model : ModelCatalog::shipped().models())
            missing += model.bytes;
    }
    for (int row = 0; row < list->rowCount(); ++row) {
        const ModelStatus *status = list->at(row);
        if (!status->model.id.isEmpty() && status->state != ModelStatus::State::Ready)
            missing += status->totalBytes - status->bytes;
    }
    return missing > 0 ? missing + DiskSetup().reserveBytes : 0;
}

} // namespace firesteel::app
