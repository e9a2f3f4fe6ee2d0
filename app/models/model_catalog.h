// SPDX-License-Identifier: MIT
//
// The models Firesteel knows, from resources/catalog: repositories at pinned revisions, their
// licences, and digests that tell weights apart which were published under one name. Read once,
// then constant; any thread may use it. It knows nothing of what is on this machine.
#pragma once

#include "app/models/model_problem.h"

#include <QByteArray>
#include <QString>
#include <QUrl>

#include <functional>
#include <vector>

namespace firesteel::app {

enum class ModelRole { Target, Drafter };

// A licence as the catalogue states it. What a repository states at the pinned revision wins.
struct License
{
    QString id; // SPDX
    QString hubId; // as `license:` of a model card spells it
    QString name;
    QUrl url;
    QString text; // the standard text, shipped
    QByteArray textSha256; // hexadecimal, of the text's bytes
    bool isRestricted = false; // forbids some uses: withdrawing deletes, nothing is exported
};

struct PinnedFile
{
    QString path;
    qint64 size = 0;
    QByteArray sha256; // hexadecimal
};

// Weights of the same name and size from another revision.
struct OtherWeights
{
    QString revision;
    QString path;
    QByteArray sha256; // hexadecimal
};

struct CatalogModel
{
    QString id;
    QString name;
    QString creator;
    ModelRole role = ModelRole::Target;
    QString repository; // "owner/name"
    QString revision; // 40 hexadecimal digits
    QString licenseId;
    qint64 bytes = 0; // of the download, before the file list is known
    std::vector<PinnedFile> weights; // empty: known by the revision alone
    std::vector<OtherWeights> otherWeights;
};

class ModelCatalog
{
public:
    // Reads a licence's text by its file name; empty when there is none.
    using TextReader = std::function<QByteArray(const QString &file)>;

    // An error's detail names the entry and field. Checks each text against its digest.
    static ModelResult<ModelCatalog> parse(const QByteArray &json, const TextReader &readText);

    // The one compiled into the program; throws std::logic_error if it does not parse.
    static const ModelCatalog &shipped();

    const std::vector<CatalogModel> &models() const { return m_models; }
    const std::vector<License> &licenses() const { return m_licenses; }

    const CatalogModel *model(const QString &repository, const QString &revision) const;
    const License *license(const QString &spdxId) const;
    const License *licenseOfHub(const QString &hubId) const;

private:
    std::vector<License> m_licenses;
    std::vector<CatalogModel> m_models;
};

// What a licence allows, asks for and forbids, in plain words, a line each; empty for a licence
// nobody has summarised. A summary, and says so where it is shown.
struct LicenseSummary
{
    QStringList allowed;
    QStringList required;
    QStringList forbidden;
};

LicenseSummary licenseSummary(const QString &spdxId);

} // namespace firesteel::app
