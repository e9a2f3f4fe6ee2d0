// SPDX-License-Identifier: MIT
#include "app/remote/remote_keys.h"

#include <qt6keychain/keychain.h>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr auto kService = "org.firesteel.Firesteel"_L1;

QString entryOf(const RemoteEngine &engine)
{
    return u"remote-key@%1@%2://%3"_s.arg(engine.id, engine.base.scheme(), engine.base.authority());
}

} // namespace

RemoteKeys::RemoteKeys(bool usesKeychain, QObject *parent)
    : QObject(parent)
    , m_usesKeychain(usesKeychain)
{
}

void RemoteKeys::load(const RemoteEngine &engine)
{
    if (!m_usesKeychain)
        return;
    const QString entry = entryOf(engine);
    auto *job = new QKeychain::ReadPasswordJob(kService, this); // deletes itself
    job->setKey(entry);
    connect(job, &QKeychain::Job::finished, this, [this, job, entry] {
        const QByteArray bytes = job->binaryData();
        if (job->error() != QKeychain::NoError || bytes.isEmpty() || m_keys.contains(entry))
            return; // or one was given meanwhile
        m_keys.insert(entry, { bytes, Place::Keychain });
        Q_EMIT changed();
    });
    job->start();
}

void RemoteKeys::set(const RemoteEngine &engine, const QByteArray &key)
{
    const QString entry = entryOf(engine);
    m_keys.insert(entry, { key, Place::Session });
    Q_EMIT changed();
    if (!m_usesKeychain)
        return;
    auto *job = new QKeychain::WritePasswordJob(kService, this);
    job->setKey(entry);
    job->setBinaryData(key);
    connect(job, &QKeychain::Job::finished, this, [this, job, entry, key] {
        const auto kept = m_keys.find(entry);
        if (job->error() != QKeychain::NoError || kept == m_keys.end() || kept->bytes != key)
            return;
        kept->place = Place::Keychain;
        Q_EMIT changed();
    });
    job->start();
}

void RemoteKeys::forget(const RemoteEngine &engine)
{
    const QString entry = entryOf(engine);
    if (m_usesKeychain) {
        auto *job = new QKeychain::DeletePasswordJob(kService, this);
        job->setKey(entry);
        job->start();
    }
    if (m_keys.remove(entry))
        Q_EMIT changed();
}

QByteArray RemoteKeys::key(const RemoteEngine &engine) const
{
    return m_keys.value(entryOf(engine)).bytes;
}

RemoteKeys::Place RemoteKeys::place(const RemoteEngine &engine) const
{
    const auto kept = m_keys.constFind(entryOf(engine));
    return kept == m_keys.constEnd() ? Place::None : kept->place;
}

} // namespace firesteel::app
