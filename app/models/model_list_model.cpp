// SPDX-License-Identifier: MIT
#include "app/models/model_list_model.h"

#include <QDir>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using State = ModelStatus::State;

constexpr double kSlowest = 1000; // bytes a second; below it no time left is guessed

QString sizeText(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

bool isOnItsWay(State state)
{
    return state == State::Queued || state == State::Asking || state == State::Checking
        || state == State::Downloading || state == State::Waiting;
}

bool isSameModel(const ModelStatus &one, const ModelStatus &other)
{
    const bool isAdded = one.model.id.isEmpty();
    return isAdded == other.model.id.isEmpty()
        && (isAdded ? one.folder == other.folder : one.model.id == other.model.id);
}

} // namespace

ModelListModel::ModelListModel(QObject *parent)
    : QAbstractListModel(parent)
{
}

int ModelListModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_models.size());
}

const ModelStatus *ModelListModel::at(int row) const
{
    return row >= 0 && row < rowCount() ? &m_models[static_cast<std::size_t>(row)] : nullptr;
}

int ModelListModel::rowOf(const QString &repository, const QString &revision) const
{
    const auto found = std::ranges::find_if(m_models, [&](const ModelStatus &status) {
        return status.model.repository == repository && status.model.revision == revision
            && !status.model.id.isEmpty();
    });
    return found == m_models.end() ? -1 : static_cast<int>(found - m_models.begin());
}

QHash<int, QByteArray> ModelListModel::roleNames() const
{
    return {
        { NameRole, "name" },
        { CreatorRole, "creator" },
        { DescriptionRole, "description" },
        { LicenseRole, "license" },
        { StateTextRole, "stateText" },
        { ProblemRole, "problem" },
        { DetailRole, "detail" },
        { ActionRole, "action" },
        { ProgressTextRole, "progressText" },
        { FractionRole, "fraction" },
        { BusyRole, "busy" },
        { FolderRole, "folder" },
        { ConsentRole, "consent" },
        { CanDownloadRole, "canDownload" },
        { CanPauseRole, "canPause" },
        { CanResumeRole, "canResume" },
        { CanCancelRole, "canCancel" },
        { CanUseRole, "canUse" },
        { InUseRole, "inUse" },
        { CanRemoveRole, "canRemove" },
        { CanWithdrawRole, "canWithdraw" },
        { AddedRole, "added" },
    };
}

void ModelListModel::setModels(std::vector<ModelStatus> models)
{
    const bool isSameList = std::ranges::equal(models, m_models, isSameModel);
    if (!isSameList)
        beginResetModel();
    m_models = std::move(models);
    if (!isSameList)
        endResetModel();
    else if (!m_models.empty())
        Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

void ModelListModel::setFolderInUse(const QString &folder)
{
    m_folderInUse = folder.isEmpty() ? QString() : QDir::cleanPath(folder); // "" becomes "."
    if (!m_models.empty())
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), { InUseRole, CanUseRole });
}

QString ModelListModel::descriptionOf(const ModelStatus &status) const
{
    if (status.model.id.isEmpty())
        return QDir::toNativeSeparators(status.folder);
    if (status.model.role == ModelRole::Drafter) {
        const QString what
            = tr("Guesses tokens ahead, so that answers come faster. Without it they are the same, "
                 "only slower.");
        return status.state == State::Ready
            ? tr("%1 Used from the next load of its model on.").arg(what)
            : what;
    }
    return tr("The model itself. Runs on one DGX Spark.");
}

QString ModelListModel::stateText(const ModelStatus &status) const
{
    switch (status.state) {
    case State::Available:
        return tr("%1 to download").arg(sizeText(status.totalBytes));
    case State::Queued:
        return tr("Waits for its turn");
    case State::Asking:
        return tr("Asking the hub what there is");
    case State::Checking:
        return tr("Checking files that are here already");
    case State::Downloading:
        return tr("Downloading");
    case State::Waiting:
        return tr("Trying again in %n s", nullptr, static_cast<int>(status.secondsToRetry));
    case State::Paused:
        return tr("Paused");
    case State::Failed:
        return tr("Stopped");
    case State::Deleting:
        return tr("Deleting");
    case State::Ready:
        return tr("Ready · every file verified");
    case State::Added:
        return tr("A folder of yours");
    case State::OtherWeights:
        return tr("A folder of yours · other weights than Firesteel expects");
    case State::Missing:
        break;
    }
    return tr("The folder is gone");
}

QString ModelListModel::progressText(const ModelStatus &status) const
{
    if (status.state == State::Available || status.state == State::Ready || status.bytes == 0)
        return {};
    QStringList parts { tr("%1 of %2").arg(sizeText(status.bytes), sizeText(status.totalBytes)) };
    if (status.state == State::Downloading && status.bytesPerSecond >= kSlowest) {
        const auto seconds = static_cast<int>(std::min(
            static_cast<double>(status.totalBytes - status.bytes) / status.bytesPerSecond, 1e8));
        parts << tr("%1/s").arg(sizeText(static_cast<qint64>(status.bytesPerSecond)));
        if (seconds >= 5400)
            parts << tr("%n h left", nullptr, (seconds + 1800) / 3600);
        else if (seconds >= 90)
            parts << tr("%n min left", nullptr, (seconds + 30) / 60);
        else
            parts << tr("%n s left", nullptr, seconds);
    }
    return parts.join(u" · "_s);
}

QVariant ModelListModel::data(const QModelIndex &index, int role) const
{
    const ModelStatus *found = index.isValid() ? at(index.row()) : nullptr;
    if (found == nullptr)
        return {};
    const ModelStatus &status = *found;
    const bool isAdded = status.model.id.isEmpty();
    const bool isHere = status.state == State::Ready || status.state == State::Added;
    const bool isInUse = !m_folderInUse.isEmpty() && status.folder == m_folderInUse;
    switch (static_cast<Role>(role)) {
    case NameRole:
        return status.model.name;
    case CreatorRole:
        return status.model.creator;
    case DescriptionRole:
        return descriptionOf(status);
    case LicenseRole: {
        const License *license = ModelCatalog::shipped().license(status.model.licenseId);
        return license != nullptr ? license->name : status.model.licenseId;
    }
    case StateTextRole:
        return stateText(status);
    case ProblemRole:
        return problemText(status.problem.kind);
    case DetailRole:
        return status.problem.detail;
    case ActionRole:
        return status.state == State::Failed ? problemAction(status.problem.kind) : QString();
    case ProgressTextRole:
        return progressText(status);
    case FractionRole:
        return status.totalBytes > 0
            ? static_cast<double>(status.bytes) / static_cast<double>(status.totalBytes)
            : 0.0;
    case BusyRole:
        return isOnItsWay(status.state) || status.state == State::Paused
            || (status.state == State::Failed && status.bytes > 0);
    case FolderRole:
        return QDir::toNativeSeparators(status.folder);
    case ConsentRole:
        return status.consent
            ? tr("Licence accepted on %1")
                  .arg(QLocale().toString(status.consent->accepted.toLocalTime().date(),
                                          QLocale::LongFormat))
            : QString();
    case CanDownloadRole:
        return !isAdded
            && (status.state == State::Available || status.state == State::Missing
                || (status.state == State::Failed && status.folder.isEmpty()));
    case CanPauseRole:
        return isOnItsWay(status.state);
    case CanResumeRole:
        return status.state == State::Paused
            || (status.state == State::Failed && !status.folder.isEmpty());
    case CanCancelRole:
        return isOnItsWay(status.state) || status.state == State::Paused
            || (status.state == State::Failed && !status.folder.isEmpty());
    case CanUseRole:
        return isHere && !isInUse && status.model.role == ModelRole::Target;
    case InUseRole:
        return isInUse;
    case CanRemoveRole:
        return isAdded || status.state == State::Ready;
    case CanWithdrawRole: {
        const License *license = ModelCatalog::shipped().license(status.model.licenseId);
        return !isAdded && status.consent.has_value() && status.state != State::Deleting
            && (license == nullptr || license->isRestricted);
    }
    case AddedRole:
        return isAdded;
    }
    return {};
}

} // namespace firesteel::app
