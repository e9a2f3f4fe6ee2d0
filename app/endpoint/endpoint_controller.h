// SPDX-License-Identifier: MIT
//
// The local endpoint as the window shows it: on or off, where it listens, who may use it, what it
// was asked. Starts and stops the server on a worker, one change after another; the GUI never waits
// for a connection to end. Owned by Application.
#pragma once

#include "app/api/api_keys.h"
#include "app/endpoint/request_log_model.h"
#include "app/settings/app_settings.h"
#include "engine/api/engine.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace firesteel::app {

class ApiServer;

class EndpointKey
{
    Q_GADGET
    QML_VALUE_TYPE(endpointKey)
    Q_PROPERTY(QString id MEMBER id FINAL)
    Q_PROPERTY(QString name MEMBER name FINAL)
    Q_PROPERTY(QString detail MEMBER detail FINAL)

public:
    QString id;
    QString name;
    QString detail; // its end and when it was made
};

class EndpointController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the endpoint")
    Q_PROPERTY(bool enabled READ isEnabled WRITE setEnabled NOTIFY changed FINAL)
    Q_PROPERTY(bool running READ isRunning NOTIFY changed FINAL)
    Q_PROPERTY(QString url READ url NOTIFY changed FINAL) // where clients find it
    Q_PROPERTY(QString errorText READ errorText NOTIFY changed FINAL)
    Q_PROPERTY(QString address READ address NOTIFY changed FINAL)
    Q_PROPERTY(bool exposed READ isExposed NOTIFY changed FINAL) // others can reach it
    Q_PROPERTY(int port READ port NOTIFY changed FINAL)
    Q_PROPERTY(bool requiresKey READ requiresKey WRITE setRequiresKey NOTIFY changed FINAL)
    Q_PROPERTY(QStringList origins READ origins NOTIFY changed FINAL)
    Q_PROPERTY(QList<firesteel::app::EndpointKey> keys READ keys NOTIFY keysChanged FINAL)
    Q_PROPERTY(QString newKey READ newKey NOTIFY keysChanged FINAL) // until it was dismissed
    Q_PROPERTY(QString keyProblem READ keyProblem NOTIFY keysChanged FINAL)
    Q_PROPERTY(firesteel::app::RequestLogModel *log READ log CONSTANT FINAL)

public:
    // Both must outlive this. Nothing listens before start().
    EndpointController(engine::Engine &engine, AppSettings &settings, QObject *parent = nullptr);
    ~EndpointController() override; // ends the server

    void start(); // if it is switched on

    bool isEnabled() const { return m_settings.endpoint().isEnabled; }
    void setEnabled(bool enabled);
    bool isRunning() const { return m_port > 0; }
    QString url() const;
    QString errorText() const { return m_errorText; }
    QString address() const { return m_settings.endpoint().address; }
    bool isExposed() const;
    int port() const { return m_settings.endpoint().port; }
    bool requiresKey() const { return m_settings.endpoint().requiresKey; }
    void setRequiresKey(bool isRequired);
    QStringList origins() const { return m_settings.endpoint().origins; }
    QList<EndpointKey> keys() const;
    QString newKey() const { return m_newKey; }
    QString keyProblem() const { return m_keyProblem; }
    RequestLogModel *log() { return &m_log; }

    // From input fields: what makes no sense changes nothing. Return whether it was taken.
    Q_INVOKABLE bool setAddressText(const QString &text); // a numeric address, or localhost
    Q_INVOKABLE bool setPortText(const QString &text);
    Q_INVOKABLE bool addOrigin(const QString &text);
    Q_INVOKABLE void removeOrigin(const QString &origin);
    Q_INVOKABLE void createKey(const QString &name); // -> newKey
    Q_INVOKABLE void dismissNewKey();
    Q_INVOKABLE void copyUrl() const;
    Q_INVOKABLE void copyNewKey() const;
    Q_INVOKABLE void removeKey(const QString &id);

Q_SIGNALS:
    void changed();
    void keysChanged();

private:
    void store(const EndpointSettings &settings);
    void apply(); // the settings to the server
    void onStarted(std::uint64_t change, const std::expected<int, std::string> &port);

    engine::Engine &m_engine;
    AppSettings &m_settings;
    ApiKeys m_keys;
    RequestLogModel m_log;
    QString m_newKey;
    QString m_keyProblem;
    QString m_errorText;
    int m_port = 0; // that is listened on; 0: none
    std::uint64_t m_change = 0; // number of the newest
    std::unique_ptr<ApiServer> m_server; // of the worker, until it is done
    QThreadPool m_worker; // one thread, so one after another
};

} // namespace firesteel::app
