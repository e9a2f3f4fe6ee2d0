// SPDX-License-Identifier: MIT
//
// The other machines' engines a person has added, as rows of the settings: where each is, which
// model it is asked for and whether it has a key. Kept in the settings file, keys by RemoteKeys.
// Chats are answered through generate(). Owned by Application.
#pragma once

#include "app/remote/remote_client.h"
#include "app/remote/remote_keys.h"
#include "app/settings/app_settings.h"

#include <QAbstractListModel>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <vector>

namespace firesteel::app {

class RemoteEngines : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the other engines")
    // The one that new chats use; empty: this machine.
    Q_PROPERTY(QString defaultId READ defaultId NOTIFY enginesChanged FINAL)
    Q_PROPERTY(int count READ count NOTIFY enginesChanged FINAL)
    Q_PROPERTY(bool testing READ isTesting NOTIFY testChanged FINAL)
    Q_PROPERTY(bool testFailed READ hasTestFailed NOTIFY testChanged FINAL)
    Q_PROPERTY(QString testText READ testText NOTIFY testChanged FINAL)
    Q_PROPERTY(QStringList testModels READ testModels NOTIFY testChanged FINAL) // that were found

public:
    enum Role {
        EngineIdRole = Qt::UserRole, // QString
        NameRole, // QString
        AddressRole, // QString
        ModelRole, // QString
        KeyTextRole, // QString, where its key is
        NoticeRole, // QString, what a person should know of the way there; or empty
        DefaultRole, // bool: new chats use it
    };
    Q_ENUM(Role)

    // The settings and the client must outlive this.
    RemoteEngines(AppSettings &settings, RemoteClient &client, bool usesKeychain,
                  QObject *parent = nullptr);

    const RemoteEngine *find(const QString &id) const; // null: there is none (any more)
    QString defaultId() const; // of one that there is
    QByteArray keyOf(const RemoteEngine &engine) const { return m_keys.key(engine); }
    std::unique_ptr<Generation> generate(const RemoteEngine &engine,
                                         const std::vector<engine::Message> &messages,
                                         const RequestSettings &settings);

    // Adds an engine, or changes the one with this id. An empty key leaves the one that there is,
    // unless the address has become another. Answers why not: empty if it was done.
    Q_INVOKABLE QString save(const QString &id, const QString &name, const QString &address,
                             const QString &model, const QString &key);
    Q_INVOKABLE void remove(const QString &id); // its key as well; its chats go to this machine
    Q_INVOKABLE void forgetKey(const QString &id);
    Q_INVOKABLE void makeDefault(const QString &id); // empty: this machine
    // Asks the address for its models, with the key given here or else the one of this id there.
    Q_INVOKABLE void test(const QString &id, const QString &address, const QString &key);
    Q_INVOKABLE void forgetTest(); // and ends it
    Q_INVOKABLE QString noticeOf(const QString &address) const; // as NoticeRole

    int count() const { return static_cast<int>(m_engines.size()); }
    bool isTesting() const { return m_test != nullptr; }
    bool hasTestFailed() const { return m_hasTestFailed; }
    QString testText() const { return m_testText; }
    QStringList testModels() const { return m_testModels; }

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void enginesChanged(); // any of them, or the default
    void testChanged();

private:
    void read();
    void write();
    void showAll();
    int rowOf(const QString &id) const; // -1: none
    void onTested();
    void endTest(bool hasFailed, const QString &text, const QStringList &models = {});
    QString keyText(const RemoteEngine &engine) const;

    AppSettings &m_settings;
    RemoteClient &m_client;
    RemoteKeys m_keys;
    std::vector<RemoteEngine> m_engines;
    std::unique_ptr<RemoteGet> m_test; // while one goes on
    bool m_hasTestFailed = false;
    QString m_testText;
    QStringList m_testModels;
};

} // namespace firesteel::app
