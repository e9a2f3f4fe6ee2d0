// SPDX-License-Identifier: MIT
#include "app/remote/remote_engines.h"

#include "app/store/record_id.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr auto kId = "id"_L1;
constexpr auto kName = "name"_L1;
constexpr auto kAddress = "address"_L1;
constexpr auto kModel = "model"_L1;

} // namespace

RemoteEngines::RemoteEngines(AppSettings &settings, RemoteClient &client, bool usesKeychain,
                             QObject *parent)
    : QAbstractListModel(parent)
    , m_settings(settings)
    , m_client(client)
    , m_keys(usesKeychain)
{
    connect(&m_keys, &RemoteKeys::changed, this, &RemoteEngines::showAll);
    connect(&m_settings, &AppSettings::remoteDefaultChanged, this, &RemoteEngines::showAll);
    read();
}

// What a person wrote into the file and cannot be an engine is left out.
void RemoteEngines::read()
{
    for (const auto &value : QJsonDocument::fromJson(m_settings.remoteEngines().toUtf8()).array()) {
        const QJsonObject json = value.toObject();
        const auto base = remoteBase(json[kAddress].toString());
        const QString id = json[kId].toString();
        const QString name = json[kName].toString();
        if (!base || id.isEmpty() || name.isEmpty() || rowOf(id) >= 0)
            continue;
        m_engines.push_back({ id, name, *base, json[kModel].toString() });
        m_keys.load(m_engines.back());
    }
}

void RemoteEngines::write()
{
    QJsonArray all;
    for (const RemoteEngine &engine : m_engines) {
        all.append(QJsonObject { { kId, engine.id },
                                 { kName, engine.name },
                                 { kAddress, engine.base.toString() },
                                 { kModel, engine.model } });
    }
    m_settings.setRemoteEngines(
        QString::fromUtf8(QJsonDocument(all).toJson(QJsonDocument::Compact)));
    Q_EMIT enginesChanged();
}

void RemoteEngines::showAll()
{
    if (!m_engines.empty())
        Q_EMIT dataChanged(index(0), index(count() - 1));
    Q_EMIT enginesChanged();
}

int RemoteEngines::rowOf(const QString &id) const
{
    const auto found = std::ranges::find(m_engines, id, &RemoteEngine::id);
    return found == m_engines.end() ? -1 : static_cast<int>(found - m_engines.begin());
}

const RemoteEngine *RemoteEngines::find(const QString &id) const
{
    const int row = rowOf(id);
    return row < 0 ? nullptr : &m_engines[static_cast<std::size_t>(row)];
}

QString RemoteEngines::defaultId() const
{
    const QString id = m_settings.remoteDefault();
    return find(id) != nullptr ? id : QString();
}

std::unique_ptr<Generation> RemoteEngines::generate(const RemoteEngine &engine,
                                                    const std::vector<engine::Message> &messages,
                                                    const RequestSettings &settings)
{
    return m_client.generate(engine.base, m_keys.key(engine),
                             chatBody(engine.model, messages, settings));
}

QString RemoteEngines::save(const QString &id, const QString &name, const QString &address,
                            const QString &model, const QString &key)
{
    const auto base = remoteBase(address);
    if (!base)
        return tr("An address is a host with its port, as in http://spark:8000 or "
                  "https://models.example/v1. A user or a password in it is not taken.");
    if (name.trimmed().isEmpty())
        return tr("The engine needs a name.");
    if (model.trimmed().isEmpty())
        return tr("Test the address and choose one of its models.");
    const int row = rowOf(id);
    const RemoteEngine engine { row >= 0 ? id : QString::number(newRecordId()), name.simplified(),
                                *base, model.trimmed() };
    if (row < 0) {
        beginInsertRows({}, count(), count());
        m_engines.push_back(engine);
        endInsertRows();
    } else {
        RemoteEngine &there = m_engines[static_cast<std::size_t>(row)];
        if (there.base.authority() != base->authority() || there.base.scheme() != base->scheme())
            m_keys.forget(there);
        there = engine;
        Q_EMIT dataChanged(index(row), index(row));
    }
    if (const QByteArray given = key.trimmed().toUtf8(); !given.isEmpty())
        m_keys.set(engine, given);
    write();
    return {};
}

void RemoteEngines::remove(const QString &id)
{
    const int row = rowOf(id);
    if (row < 0)
        return;
    m_keys.forget(m_engines[static_cast<std::size_t>(row)]);
    beginRemoveRows({}, row, row);
    m_engines.erase(m_engines.begin() + row);
    endRemoveRows();
    if (m_settings.remoteDefault() == id)
        m_settings.setRemoteDefault({});
    write();
}

void RemoteEngines::forgetKey(const QString &id)
{
    if (const RemoteEngine *engine = find(id))
        m_keys.forget(*engine);
}

void RemoteEngines::makeDefault(const QString &id)
{
    if (id.isEmpty() || find(id) != nullptr)
        m_settings.setRemoteDefault(id);
}

void RemoteEngines::test(const QString &id, const QString &address, const QString &key)
{
    const auto base = remoteBase(address);
    if (!base) {
        endTest(true, tr("This is no address of a server."));
        return;
    }
    QByteArray used = key.trimmed().toUtf8();
    if (used.isEmpty())
        used = m_keys.key({ id, {}, *base, {} });
    m_test = m_client.get(modelsUrl(*base), used);
    connect(m_test.get(), &RemoteGet::finished, this, &RemoteEngines::onTested,
            Qt::QueuedConnection); // it ends with its request
    m_hasTestFailed = false;
    m_testText = tr("Asking %1…").arg(base->authority());
    m_testModels.clear();
    Q_EMIT testChanged();
}

void RemoteEngines::onTested()
{
    if (!m_test || !m_test->hasFinished())
        return; // of a test that was given up
    const auto models
        = m_test->answer().and_then([](const QByteArray &answer) { return modelIds(answer); });
    if (!models)
        endTest(true, QString::fromStdString(models.error().message));
    else if (models->isEmpty())
        endTest(true, tr("The server answers, but has no model."));
    else
        endTest(false, tr("The server answers. Its models: %1.").arg(models->join(u", "_s)),
                *models);
}

void RemoteEngines::endTest(bool hasFailed, const QString &text, const QStringList &models)
{
    m_test.reset();
    m_hasTestFailed = hasFailed;
    m_testText = text;
    m_testModels = models;
    Q_EMIT testChanged();
}

void RemoteEngines::forgetTest() { endTest(false, {}); }

QString RemoteEngines::noticeOf(const QString &address) const
{
    const auto base = remoteBase(address);
    return base ? unencryptedNotice(*base) : QString();
}

QString RemoteEngines::keyText(const RemoteEngine &engine) const
{
    switch (m_keys.place(engine)) {
    case RemoteKeys::Place::Keychain:
        return tr("Its key is in the keychain.");
    case RemoteKeys::Place::Session:
        return tr("Its key is kept until you quit, since no keychain answers here.");
    case RemoteKeys::Place::None:
        break;
    }
    return tr("No key.");
}

int RemoteEngines::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant RemoteEngines::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RemoteEngine &engine = m_engines[static_cast<std::size_t>(index.row())];
    switch (role) {
    case EngineIdRole:
        return engine.id;
    case NameRole:
        return engine.name;
    case AddressRole:
        return engine.base.toString();
    case ModelRole:
        return engine.model;
    case KeyTextRole:
        return keyText(engine);
    case NoticeRole:
        return unencryptedNotice(engine.base);
    case DefaultRole:
        return engine.id == m_settings.remoteDefault();
    default:
        return {};
    }
}

QHash<int, QByteArray> RemoteEngines::roleNames() const
{
    return { { EngineIdRole, "engineId" }, { NameRole, "name" },       { AddressRole, "address" },
             { ModelRole, "model" },       { KeyTextRole, "keyText" }, { NoticeRole, "notice" },
             { DefaultRole, "isDefault" } };
}

} // namespace firesteel::app
