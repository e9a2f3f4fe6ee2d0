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

void HubToken::adoptForeign()
{
    const QProcessEnvironment &environment = m_setup.environment;
    if (environment.contains(u"HF_HUB_DISABLE_IMPLICIT_TOKEN"_s)) {
        adopt({}, Source::None);
        return;
    }
    if (const QString token = environment.value(u"HF_TOKEN"_s).trimmed(); !token.isEmpty()) {
        adopt(token.toUtf8(), Source::Environment);
        return;
    }
    QString file = environment.value(u"HF_TOKEN_PATH"_s);
    if (file.isEmpty()) {
        QString folder = environment.value(u"HF_HOME"_s);
        if (folder.isEmpty())
            folder = environment.value(u"XDG_CACHE_HOME"_s, m_setup.home + u"/.cache"_s)
                + u"/huggingface"_s;
        file = folder + u"/token"_s;
    }
    const QByteArray token = firstLine(file);
    adopt(token, token.isEmpty() ? Source::None : Source::File);
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
    switch (m_source) {
    case Source::None:
        return tr("No access token. Models that are open to all need none.");
    case Source::Keychain:
        return tr("The access token is in the keychain.");
    case Source::Session:
        return tr("The access token is kept until you quit: no keychain answers here.");
    case Source::Environment:
        return tr("The access token is the one of the variable HF_TOKEN.");
    case Source::File:
        break;
    }
    return tr("The access token is the one that Hugging Face's own tools use.");
}

} // namespace firesteel::app
