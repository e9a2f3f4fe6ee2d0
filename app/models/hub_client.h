// SPDX-License-Identifier: MIT
//
// Asks the hub, and whoever it redirects to, over HTTP. The rules of trust are here and nowhere
// else: the access token goes to the endpoint's own origin and to no other, is sent only where it
// is needed, and never appears in a log; redirects are followed by hand, never from https to
// http. Lives on the download thread.
#pragma once

#include "app/models/hub_protocol.h"

#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QObject>
#include <QPointer>

#include <chrono>
#include <optional>

namespace firesteel::app {

struct HubSetup
{
    QUrl endpoint { QStringLiteral(
        "https://huggingface.co") }; // or HF_ENDPOINT; no slash at its end
    std::chrono::milliseconds stallTimeout { 30'000 }; // nothing arrives for so long: give up
};

class HubClient;

// One GET with its redirects. Ends with exactly one finished().
class HubRequest : public QObject
{
    Q_OBJECT

public:
    ~HubRequest() override;

    // Of the last answer, from opened() on. 200 or 206 unless there is a problem().
    int status() const { return m_status; }
    QByteArray header(const char *name) const;
    QUrl url() const { return m_url; } // the last one asked
    bool isAtEndpoint() const; // not redirected to somebody else
    const std::optional<ModelProblem> &problem() const { return m_problem; }

    // What has arrived and was not read; at most `most` bytes.
    QByteArray read(qint64 most);
    QByteArray readAll();

    void abort(); // no further signal

Q_SIGNALS:
    void opened(); // the answer's headers are here, and it is a success
    void readable();
    void finished(); // problem() says how

private:
    friend class HubClient;
    HubRequest(HubClient &client, QUrl url, std::optional<HubRange> range);

    void send();
    void onHeaders();
    void onFinished();
    void followRedirect();
    void fail(ModelProblem problem);

    HubClient &m_client;
    QUrl m_url;
    std::optional<HubRange> m_range;
    QPointer<QNetworkReply> m_reply;
    std::optional<ModelProblem> m_problem;
    int m_status = 0;
    int m_redirects = 0;
    bool m_hadToken = false;
    bool m_isOpen = false;
    bool m_isDone = false;
};

class HubClient : public QObject
{
    Q_OBJECT

public:
    explicit HubClient(HubSetup setup, QObject *parent = nullptr);

    const HubSetup &setup() const { return m_setup; }
    void setToken(const QByteArray &token); // empty: none

    // The caller owns the request; its signals come later, never from inside this call.
    HubRequest *get(const QUrl &url, std::optional<HubRange> range = std::nullopt);

private:
    friend class HubRequest;

    HubSetup m_setup;
    QByteArray m_token;
    bool m_isTokenNeeded = false; // the endpoint has refused a request without it
    QNetworkAccessManager m_network;
};

} // namespace firesteel::app
