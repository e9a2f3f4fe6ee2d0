// SPDX-License-Identifier: MIT
//
// The lines of the page of models: ModelStatus values in words. Rows keep their identity while
// their values change, so that focus stays where it is.
#pragma once

#include "app/models/model_status.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <vector>

namespace firesteel::app {

class ModelListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ModelsController owns the list of models")

public:
    enum Role {
        NameRole = Qt::UserRole + 1,
        CreatorRole,
        DescriptionRole,
        LicenseRole, // name, or empty
        StateTextRole,
        ProblemRole, // what went wrong and what to do; empty: nothing
        DetailRole,
        ActionRole, // see problemAction()
        ProgressTextRole, // "41.2 of 85.2 GB · 112 MB/s · 6 min left"
        FractionRole,
        BusyRole, // on its way or being deleted: the bar is shown
        FolderRole,
        ConsentRole, // when and what was accepted
        CanDownloadRole,
        CanPauseRole,
        CanResumeRole,
        CanCancelRole,
        CanUseRole,
        InUseRole,
        CanRemoveRole,
        CanWithdrawRole,
        AddedRole, // a folder of the person's own
    };
    Q_ENUM(Role)

    explicit ModelListModel(QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void setModels(std::vector<ModelStatus> models);
    void setFolderInUse(const QString &folder);
    const ModelStatus *at(int row) const; // nullptr: no such row
    int rowOf(const QString &repository, const QString &revision) const; // -1: none
    QString descriptionOf(const ModelStatus &status) const;

private:
    QString stateText(const ModelStatus &status) const;
    QString progressText(const ModelStatus &status) const;

    std::vector<ModelStatus> m_models;
    QString m_folderInUse;
};

} // namespace firesteel::app
