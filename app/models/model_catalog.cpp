// SPDX-License-Identifier: MIT
#include "app/models/model_catalog.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>
#include <stdexcept>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(LicenseSummary)
};

bool isHex(const QString &text, qsizetype length)
{
    static const QRegularExpression hexadecimal(u"^[0-9a-f]+$"_s);
    return text.size() == length && hexadecimal.match(text).hasMatch();
}

// Collects the first fault of one entry; later reads return empty values.
class Reader
{
public:
    Reader(const QJsonObject &object, QString where)
        : m_object(object)
        , m_where(std::move(where))
    {
    }

    QString string(QLatin1StringView key)
    {
        const QString value = m_object.value(key).toString();
        if (value.isEmpty())
            fault(key, u"a string is expected"_s);
        return value;
    }

    QString hex(QLatin1StringView key, qsizetype length)
    {
        const QString value = m_object.value(key).toString();
        if (!isHex(value, length))
            fault(key, u"%1 hexadecimal digits are expected"_s.arg(length));
        return value;
    }

    qint64 size(QLatin1StringView key)
    {
        const qint64 value = m_object.value(key).toInteger(-1);
        if (value <= 0)
            fault(key, u"a size in bytes is expected"_s);
        return value;
    }

    bool flag(QLatin1StringView key)
    {
        if (!m_object.value(key).isBool())
            fault(key, u"true or false is expected"_s);
        return m_object.value(key).toBool();
    }

    void fault(QLatin1StringView key, const QString &expected)
    {
        if (m_fault.isEmpty())
            m_fault = u"%1: %2: %3"_s.arg(m_where, key, expected);
    }

    const QString &fault() const { return m_fault; }

private:
    const QJsonObject &m_object;
    QString m_where;
    QString m_fault;
};

ModelResult<License> readLicense(const QJsonObject &object, int index,
                                 const ModelCatalog::TextReader &readText)
{
    Reader reader(object, u"licenses[%1]"_s.arg(index));
    License license;
    license.id = reader.string("id"_L1);
    license.hubId = reader.string("hubId"_L1);
    license.name = reader.string("name"_L1);
    license.url = QUrl(reader.string("url"_L1), QUrl::StrictMode);
    license.isRestricted = reader.flag("restricted"_L1);
    license.textSha256 = reader.hex("sha256"_L1, 64).toLatin1();
    const QByteArray text = readText(reader.string("text"_L1));
    if (QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex() != license.textSha256)
        reader.fault("text"_L1, u"the file does not have this sha256"_s);
    license.text = QString::fromUtf8(text);
    if (!reader.fault().isEmpty())
        return problem(Kind::BadAnswer, reader.fault());
    return license;
}

ModelResult<CatalogModel> readModel(const QJsonObject &object, int index)
{
    const QString where = u"models[%1]"_s.arg(index);
    Reader reader(object, where);
    CatalogModel model;
    model.id = reader.string("id"_L1);
    model.name = reader.string("name"_L1);
    model.creator = reader.string("creator"_L1);
    model.repository = reader.string("repository"_L1);
    model.revision = reader.hex("revision"_L1, 40);
    model.licenseId = reader.string("license"_L1);
    model.bytes = reader.size("bytes"_L1);
    const QString role = reader.string("role"_L1);
    if (role != "target"_L1 && role != "drafter"_L1)
        reader.fault("role"_L1, u"\"target\" or \"drafter\" is expected"_s);
    model.role = role == "drafter"_L1 ? ModelRole::Drafter : ModelRole::Target;
    if (!reader.fault().isEmpty())
        return problem(Kind::BadAnswer, reader.fault());
    for (const auto &value : object.value("weights"_L1).toArray()) {
        const QJsonObject file = value.toObject();
        Reader fields(file, where + u".weights"_s);
        model.weights.push_back({ fields.string("path"_L1), fields.size("size"_L1),
                                  fields.hex("sha256"_L1, 64).toLatin1() });
        if (!fields.fault().isEmpty())
            return problem(Kind::BadAnswer, fields.fault());
    }
    for (const auto &value : object.value("otherWeights"_L1).toArray()) {
        const QJsonObject file = value.toObject();
        Reader fields(file, where + u".otherWeights"_s);
        model.otherWeights.push_back({ fields.hex("revision"_L1, 40), fields.string("path"_L1),
                                       fields.hex("sha256"_L1, 64).toLatin1() });
        if (!fields.fault().isEmpty())
            return problem(Kind::BadAnswer, fields.fault());
    }
    return model;
}

QByteArray readShipped(const QString &path)
{
    QFile file(u":/firesteel/"_s + path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

template <typename List, typename Matches>
auto firstOf(const List &list, const Matches &matches) -> decltype(list.data())
{
    const auto found = std::ranges::find_if(list, matches);
    return found == list.end() ? nullptr : &*found;
}

} // namespace

ModelResult<ModelCatalog> ModelCatalog::parse(const QByteArray &json, const TextReader &readText)
{
    QJsonParseError error;
    const QJsonObject root = QJsonDocument::fromJson(json, &error).object();
    if (error.error != QJsonParseError::NoError)
        return problem(Kind::BadAnswer, error.errorString());
    if (root.value("version"_L1).toInt() != 1)
        return problem(Kind::BadAnswer, u"version: 1 is expected"_s);
    ModelCatalog catalog;
    int index = 0;
    for (const auto &value : root.value("licenses"_L1).toArray()) {
        auto license = readLicense(value.toObject(), index++, readText);
        if (!license)
            return std::unexpected(license.error());
        catalog.m_licenses.push_back(std::move(*license));
    }
    index = 0;
    for (const auto &value : root.value("models"_L1).toArray()) {
        auto model = readModel(value.toObject(), index++);
        if (!model)
            return std::unexpected(model.error());
        if (catalog.license(model->licenseId) == nullptr)
            return problem(Kind::BadAnswer,
                           u"%1: license: \"%2\" is not listed"_s.arg(model->id, model->licenseId));
        catalog.m_models.push_back(std::move(*model));
    }
    return catalog;
}

const ModelCatalog &ModelCatalog::shipped()
{
    static const ModelCatalog catalog = [] {
        auto parsed = parse(readShipped(u"catalog/models.json"_s),
                            [](const QString &file) { return readShipped(u"licenses/"_s + file); });
        if (!parsed)
            throw std::logic_error("models.json: " + parsed.error().detail.toStdString());
        return std::move(*parsed);
    }();
    return catalog;
}

const CatalogModel *ModelCatalog::model(const QString &repository, const QString &revision) const
{
    return firstOf(m_models, [&](const CatalogModel &model) {
        return model.repository == repository && model.revision == revision;
    });
}

const License *ModelCatalog::license(const QString &spdxId) const
{
    return firstOf(m_licenses, [&](const License &license) { return license.id == spdxId; });
}

const License *ModelCatalog::licenseOfHub(const QString &hubId) const
{
    return firstOf(m_licenses, [&](const License &license) { return license.hubId == hubId; });
}

LicenseSummary licenseSummary(const QString &spdxId)
{
    if (spdxId == "MIT"_L1) {
        return { { Words::tr("Use it for anything, also for profit."),
                   Words::tr("Copy, change and pass it on.") },
                 { Words::tr("Keep the copyright and licence notice in copies you pass on.") },
                 {} };
    }
    if (spdxId == "CC-BY-NC-ND-4.0"_L1) {
        return {
            { Words::tr("Use it for purposes that are not commercial."),
              Words::tr("Pass on unchanged copies, not for profit."),
              Words::tr("Convert it for yourself. Converted copies stay on this computer.") },
            { Words::tr("Name the creator, keep the notices and link the licence when you pass "
                        "on copies.") },
            { Words::tr("Commercial use. That can include serving a company from this computer."),
              Words::tr("Passing on changed or converted copies.") },
        };
    }
    return {};
}

} // namespace firesteel::app
