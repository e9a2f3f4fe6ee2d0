// SPDX-License-Identifier: MIT
#include "app/remote/remote_client.h"

#include "app/remote/remote_generation.h"

#include <QCoreApplication>
#include <QJsonDocument>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RemoteEngine)
};

} // namespace

engine::Error networkError(const QNetworkReply &reply, std::chrono::milliseconds silence)
{
    const QString where = reply.url().authority();
    const auto words = [&]() -> QString {
        switch (reply.error()) {
        case QNetworkReply::ConnectionRefusedError:
            return Words::tr("%1 refused the connection. Does the server run there?").arg(where);
        case QNetworkReply::HostNotFoundError:
            return Words::tr("No machine named %1 was found.").arg(reply.url().host());
        case QNetworkReply::OperationCanceledError: // the transfer timeout
        case QNetworkReply::TimeoutError:
            return Words::tr("%1 sent nothing for %2 s.")
                .arg(where)
                .arg(static_cast<double>(silence.count()) / 1000);
        case QNetworkReply::SslHandshakeFailedError:
            return Words::tr("No trusted encrypted connection to %1: %2")
                .arg(where, reply.errorString());
        default:
            return Words::tr("The connection to %1 broke: %2").arg(where, reply.errorString());
        }
    }();
    return { engine::ErrorCode::BadRequest, words.toStdString() };
}

RemoteGet::RemoteGet(QNetworkReply *reply, std::chrono::milliseconds silence)
    : m_reply(reply)
    , m_silence(silence)
{
    connect(m_reply, &QNetworkReply::finished, this, &RemoteGet::onFinished);
    connect(m_reply, &QNetworkReply::readyRead, this, [this] {
        if (m_reply->bytesAvailable() > kLargestAnswer) {
            end(engine::fail(engine::ErrorCode::BadRequest,
                             Words::tr("The answer of %1 is larger than %2 MiB.")
                                 .arg(m_reply->url().authority())
                                 .arg(kLargestAnswer >> 20)
                                 .toStdString()));
            m_reply->abort();
        }
    });
}

RemoteGet::~RemoteGet()
{
    m_reply->disconnect(this);
    m_reply->abort();
    m_reply->deleteLater();
}

void RemoteGet::onFinished()
{
    const int status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (status == 0 || (status == 200 && m_reply->error() != QNetworkReply::NoError)) {
        end(std::unexpected(networkError(*m_reply, m_silence)));
        return;
    }
    const QByteArray body = m_reply->readAll();
    if (status == 200)
        end(body);
    else
        end(std::unexpected(statusError(m_reply->url(), status, body)));
}

void RemoteGet::end(engine::Result<QByteArray> answer)
{
    if (std::exchange(m_hasEnded, true))
        return;
    m_answer = std::move(answer);
    Q_EMIT finished();
}

RemoteClient::RemoteClient(Setup setup, QObject *parent)
    : QObject(parent)
    , m_setup(setup)
    , m_network(this)
{
}

QNetworkRequest RemoteClient::request(const QUrl &url, const QByteArray &key,
                                      std::chrono::milliseconds silence)
{
    QNetworkRequest request(url);
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute,
                         QNetworkRequest::ManualRedirectPolicy);
    // A stream that is given up should end its own connection and no other.
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request.setTransferTimeout(silence);
    request.setRawHeader("Accept-Encoding", "identity");
    request.setRawHeader("User-Agent",
                         "firesteel/" + QCoreApplication::applicationVersion().toUtf8());
    if (!key.isEmpty())
        request.setRawHeader("Authorization", "Bearer " + key);
    return request;
}

std::unique_ptr<Generation> RemoteClient::generate(const QUrl &base, const QByteArray &key,
                                                   const QJsonObject &body)
{
    QNetworkRequest chat = request(chatUrl(base), key, m_setup.answerSilence);
    chat.setHeader(QNetworkRequest::ContentTypeHeader, u"application/json"_s);
    chat.setRawHeader("Accept", "text/event-stream");
    QNetworkReply *reply = m_network.post(chat, QJsonDocument(body).toJson(QJsonDocument::Compact));
    return std::make_unique<RemoteGeneration>(reply, m_setup.answerSilence);
}

std::unique_ptr<RemoteGet> RemoteClient::get(const QUrl &url, const QByteArray &key)
{
    return std::make_unique<RemoteGet>(m_network.get(request(url, key, m_setup.inquirySilence)),
                                       m_setup.inquirySilence);
}

} // namespace firesteel::app
