// SPDX-License-Identifier: MIT
#include "app/models/hub_client.h"

#include <QCoreApplication>
#include <QNetworkProxyFactory>
#include <QNetworkRequest>
#include <QTimer>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr int kMostRedirects = 6;
// What one connection may hold while the disk is slower than the network.
constexpr qint64 kReadBuffer = 4 << 20;

// http_proxy, https_proxy, no_proxy and the desktop's settings. Asked on the download thread:
// looking one up can take seconds.
class SystemProxies : public QNetworkProxyFactory
{
public:
    QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery &query) override
    {
        return systemProxyForQuery(query);
    }
};

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Kind kindOf(QNetworkReply::NetworkError error)
{
    switch (error) {
    case QNetworkReply::OperationCanceledError: // the transfer timeout
    case QNetworkReply::TimeoutError:
        return Kind::TimedOut;
    case QNetworkReply::SslHandshakeFailedError:
        return Kind::Refused;
    default:
        return Kind::Offline;
    }
}

} // namespace

HubRequest::HubRequest(HubClient &client, QUrl url, std::optional<HubRange> range)
    : m_client(client)
    , m_url(std::move(url))
    , m_range(range)
{
    QTimer::singleShot(0, this, &HubRequest::send);
}

HubRequest::~HubRequest() { abort(); }

bool HubRequest::isAtEndpoint() const { return isSameOrigin(m_url, m_client.m_setup.endpoint); }

void HubRequest::send()
{
    if (m_isDone)
        return;
    m_url.setUserInfo({}); // a server cannot make up credentials either
    QNetworkRequest request(m_url);
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute,
                         QNetworkRequest::ManualRedirectPolicy);
    // Ranges in parallel are meant to be parallel connections.
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    request.setTransferTimeout(m_client.m_setup.stallTimeout);
    request.setRawHeader("Accept-Encoding", "identity");
    request.setRawHeader("User-Agent",
                         "firesteel/" + QCoreApplication::applicationVersion().toUtf8());
    if (m_range)
        request.setRawHeader("Range",
                             "bytes=" + QByteArray::number(m_range->begin) + '-'
                                 + QByteArray::number(m_range->end - 1));
    m_hadToken = m_client.m_isTokenNeeded && !m_client.m_token.isEmpty() && isAtEndpoint();
    if (m_hadToken)
        request.setRawHeader("Authorization", "Bearer " + m_client.m_token);

    m_reply = m_client.m_network.get(request);
    m_reply->setParent(this);
    m_reply->setReadBufferSize(kReadBuffer);
    connect(m_reply, &QNetworkReply::metaDataChanged, this, &HubRequest::onHeaders);
    connect(m_reply, &QNetworkReply::readyRead, this, [this] {
        onHeaders();
        if (m_isOpen && !m_isDone)
            Q_EMIT readable();
    });
    connect(m_reply, &QNetworkReply::finished, this, &HubRequest::onFinished);
}

QByteArray HubRequest::header(const char *name) const
{
    return m_reply ? m_reply->rawHeader(name) : QByteArray();
}

void HubRequest::onHeaders()
{
    if (m_isDone || m_isOpen || !m_reply)
        return;
    m_status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (m_status != 200 && m_status != 206)
        return;
    m_isOpen = true;
    Q_EMIT opened();
}

void HubRequest::onFinished()
{
    if (m_isDone || !m_reply)
        return;
    m_status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (isRedirect(m_status)) {
        followRedirect();
        return;
    }
    if (m_status >= 300) {
        const bool wantsToken = (m_status == 401 || m_status == 403 || m_status == 404)
            && isAtEndpoint() && !m_hadToken && !m_client.m_token.isEmpty();
        if (wantsToken) {
            m_client.m_isTokenNeeded = true;
            m_reply->deleteLater();
            m_reply = nullptr;
            send();
            return;
        }
        ModelProblem found = hubProblem(
            m_status, [this](const char *name) { return header(name); }, m_hadToken,
            QDateTime::currentDateTimeUtc());
        // Somebody else's 401 says nothing about the token: the address has expired.
        if (!isAtEndpoint() && !isTransient(found.kind))
            found.kind = Kind::Refused;
        fail(std::move(found));
        return;
    }
    if (m_reply->error() != QNetworkReply::NoError) {
        fail({ kindOf(m_reply->error()),
               u"%1: %2"_s.arg(m_url.host(), m_reply->errorString()),
               {} });
        return;
    }
    onHeaders();
    if (!m_isDone && m_reply->bytesAvailable() > 0)
        Q_EMIT readable();
    if (!m_isDone) {
        m_isDone = true;
        Q_EMIT finished();
    }
}

void HubRequest::followRedirect()
{
    const QUrl target
        = m_url.resolved(QUrl::fromEncoded(m_reply->rawHeader("Location"), QUrl::StrictMode));
    const bool isWeb = target.scheme() == "https"_L1 || target.scheme() == "http"_L1;
    if (!target.isValid() || target.host().isEmpty() || !isWeb || ++m_redirects > kMostRedirects) {
        fail({ Kind::BadAnswer, u"%1: a redirect to nowhere"_s.arg(m_url.host()), {} });
        return;
    }
    if (m_url.scheme() == "https"_L1 && target.scheme() != "https"_L1) {
        fail({ Kind::InsecureRedirect, target.host(), {} });
        return;
    }
    m_url = target;
    m_reply->disconnect(this);
    m_reply->deleteLater();
    m_reply = nullptr;
    send();
}

void HubRequest::fail(ModelProblem problem)
{
    m_problem = std::move(problem);
    m_isDone = true;
    Q_EMIT finished();
}

QByteArray HubRequest::read(qint64 most) { return m_reply ? m_reply->read(most) : QByteArray(); }

QByteArray HubRequest::readAll() { return m_reply ? m_reply->readAll() : QByteArray(); }

void HubRequest::abort()
{
    m_isDone = true;
    if (m_reply) {
        m_reply->disconnect(this);
        m_reply->abort();
    }
}

HubClient::HubClient(HubSetup setup, QObject *parent)
    : QObject(parent)
    , m_setup(std::move(setup))
    , m_network(this)
{
    m_network.setProxyFactory(new SystemProxies);
}

void HubClient::setToken(const QByteArray &token)
{
    m_token = token;
    m_isTokenNeeded = false;
}

HubRequest *HubClient::get(const QUrl &url, std::optional<HubRange> range)
{
    return new HubRequest(*this, url, range);
}

} // namespace firesteel::app
