// SPDX-License-Identifier: MIT
#include "app/models/hub_token.h"

#include <QFile>
#include <qt6keychain/keychain.h>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr auto kService = "org.firesteel.Firesteel"_L1;
constexpr qint64 kLongestToken = 4096;

QByteArray firstLine(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readLine(kLongestToken).trimmed() : QByteArray();
}

} // namespace

HubToken::HubToken(Setup setup, QObject *parent)
    : QObject(parent)
    , m_setup(std::move(setup))
{
}

QString HubToken::key() const { return u"hub-token@"_s + m_setup.endpoint.host(); }

void HubToken::load()
{
    if (!m_setup.usesKeychain) {
        adoptForeign();
        return;
    }
    auto *job = new QKeychain::ReadPasswordJob(kService, this); // deletes itself
    job->setKey(key());
    connect(job, &QKeychain::Job::finished, this, [this, job] {
        if (m_source == Source::Session)
            return; // given meanwhile
        const QByteArray token = job->binaryData();
        if (job->error() == QKeychain::NoError && !token.isEmpty())
            adopt(token, Source::Keychain);
        else
            adoptForeign();
    });
    job->start();
}

bool HubToken::isImplicitAllowed() const
{
    return !m_setup.environment.contains(u"HF_HUB_DISABLE_IMPLICIT_TOKEN"_s);
}

QByteArray HubToken::environmentToken() const
{
    return m_setup.environment.value(u"HF_TOKEN"_s).trimmed().toUtf8();
}

QByteArray HubToken::fileToken() const
{
    const QProcessEnvironment &environment = m_setup.environment;
    QString file = environment.value(u"HF_TOKEN_PATH"_s);
    if (file.isEmpty()) {
        QString folder = environment.value(u"HF_HOME"_s);
        if (folder.isEmpty())
            folder = environment.value(u"XDG_CACHE_HOME"_s, m_setup.home + u"/.cache"_s)
                + u"/huggingface"_s;
        file = folder + u"/token"_s;
    }
    return firstLine(file);
}

void HubToken::adoptForeign()
{
    const bool isAllowed = isImplicitAllowed();
    const QByteArray token = isAllowed ? environmentToken() : QByteArray();
    const QByteArray stored = isAllowed ? fileToken() : QByteArray();
    if (!token.isEmpty())
        adopt(token, Source::Environment);
    else if (!stored.isEmpty())
        adopt(stored, Source::File);
    else
        adopt({}, Source::None);
}

void HubToken::set(const QByteArray &token)
{
    if (token.isEmpty()) {
        if (m_setup.usesKeychain) {
            auto *job = new QKeychain::DeletePasswordJob(kService, this);
            job->setKey(key());
            job->start();
        }
        adoptForeign();
        return;
    }
    adopt(token, Source::Session);
    if (!m_setup.usesKeychain)
        return;
    auto *job = new QKeychain::WritePasswordJob(kService, this);
    job->setKey(key());
    job->setBinaryData(token);
    connect(job, &QKeychain::Job::finished, this, [this, job, token] {
        if (job->error() == QKeychain::NoError && m_token == token)
            adopt(token, Source::Keychain);
    });
    job->start();
}

void HubToken::adopt(const QByteArray &token, Source source)
{
    m_token = token;
    m_source = source;
    Q_EMIT changed();
}

QString HubToken::sourceText() const
{
    const QByteArray variable = environmentToken();
    const bool isVariablePassedOver = isOwn() && !variable.isEmpty() && variable != m_token;
    const QString passedOver = isVariablePassedOver
        ? u' ' + tr("The variable HF_TOKEN holds another one, which is not used.")
        : QString();
    switch (m_source) {
    case Source::None:
        return tr("No access token. Models that are open to all need none.");
    case Source::Keychain:
        return tr("The access token is the one you gave; it is in the keychain.") + passedOver;
    case Source::Session:
        return tr("The access token is the one you gave; it is kept until you quit, since no "
                  "keychain answers here.")
            + passedOver;
    case Source::Environment:
        if (const QByteArray stored = fileToken(); !stored.isEmpty() && stored != m_token)
            return tr("The access token is the one of the variable HF_TOKEN. The one that Hugging "
                      "Face's own tools have stored is another and is not used.");
        return tr("The access token is the one of the variable HF_TOKEN.");
    case Source::File:
        break;
    }
    return tr("The access token is the one that Hugging Face's own tools have stored.");
}

} // namespace firesteel::app
