// SPDX-License-Identifier: MIT
#include "app/models/model_folder.h"

#include "app/models/hub_cache.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryFile>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

FoundFolder inspectFolder(const QString &path, const ModelCatalog &catalog)
{
    FoundFolder found;
    found.folder.path = path;
    QFile config(path + u"/config.json"_s);
    const bool hasWeights = !QDir(path).entryList({ u"*.safetensors"_s }, QDir::Files).isEmpty();
    if (!hasWeights || !config.open(QIODevice::ReadOnly)) {
        found.problem = ModelProblem { Kind::NotAModel, path, {} };
        return found;
    }
    const QJsonObject root = QJsonDocument::fromJson(config.readAll()).object();
    const QString architecture = root.value("architectures"_L1).toArray().first().toString();
    if (!architecture.startsWith("DFlash"_L1))
        return found;
    found.folder.role = ModelRole::Drafter;
    for (const CatalogModel &model : catalog.models()) {
        for (const PinnedFile &pinned : model.weights) {
            const HubFile file { pinned.path, pinned.size, ContentHash::Kind::Sha256, {} };
            if (QFileInfo(path + u'/' + pinned.path).size() != pinned.size)
                continue;
            const auto digest
                = digestOf(path + u'/' + pinned.path, file, [](qint64) { return true; });
            if (!digest)
                continue;
            found.folder.repository = model.repository;
            if (*digest == pinned.sha256)
                found.folder.revision = model.revision;
            for (const OtherWeights &other : model.otherWeights) {
                if (*digest == other.sha256)
                    found.folder.revision = other.revision;
            }
            return found;
        }
    }
    return found;
}

std::optional<ModelProblem> prepareModelsFolder(const QString &path)
{
    if (!QDir::isAbsolutePath(path) || !QDir().mkpath(path))
        return ModelProblem { Kind::FolderNotWritable, path, {} };
    QTemporaryFile probe(path + u"/.writable-XXXXXX"_s); // removes itself
    if (!probe.open())
        return ModelProblem { Kind::FolderNotWritable, probe.errorString(), {} };
    return std::nullopt;
}

void deleteFolder(const QString &folder)
{
    if (!QFileInfo::exists(folder))
        return;
    const QString doomed = folder + u".deleted"_s;
    QDir(doomed).removeRecursively();
    if (QFile::rename(folder, doomed))
        QDir(doomed).removeRecursively();
}

void sweepDeleted(const QString &modelsFolder)
{
    const QStringList owners = QDir(modelsFolder).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &owner : owners) {
        const QDir models(modelsFolder + u'/' + owner);
        for (const QString &doomed : models.entryList({ u"*.deleted"_s }, QDir::Dirs))
            QDir(models.filePath(doomed)).removeRecursively();
    }
}

} // namespace firesteel::app
