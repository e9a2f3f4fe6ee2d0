// SPDX-License-Identifier: MIT
//
// The GUI's side of models: the list, the licence dialog, the token, and what a person decides.
// Owns the download thread and speaks to DownloadManager by queued calls only.
#pragma once

#include "app/models/download_manager.h"
#include "app/models/hub_token.h"
#include "app/models/license_prompt.h"
#include "app/models/model_list_model.h"

#include <QObject>
#include <QString>
#include <QThread>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <utility>

namespace firesteel::app {

class DatabaseThread;

class ModelsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the models")
    Q_PROPERTY(firesteel::app::ModelListModel *list READ list CONSTANT FINAL)
    Q_PROPERTY(firesteel::app::LicensePrompt *prompt READ prompt CONSTANT FINAL)
    // No model was chosen, so the one that came with the program is loaded.
    Q_PROPERTY(bool shippedInUse READ isShippedInUse NOTIFY folderInUseChanged FINAL)
    Q_PROPERTY(bool hasToken READ hasToken NOTIFY tokenChanged FINAL)
    Q_PROPERTY(bool ownsToken READ ownsToken NOTIFY tokenChanged FINAL) // so that it can forget it
    Q_PROPERTY(QString tokenText READ tokenText NOTIFY tokenChanged FINAL)
    Q_PROPERTY(QString hubText READ hubText CONSTANT FINAL) // of a mirror; empty: none is set
    Q_PROPERTY(QString modelsFolder READ modelsFolder NOTIFY modelsFolderChanged FINAL)
    Q_PROPERTY(
        QString notice READ notice NOTIFY noticeChanged FINAL) // of a refused folder or address

public:
    struct Setup
    {
        DownloadManager::Setup downloads;
        HubToken::Setup token;
        QString refusedEndpoint; // what HF_ENDPOINT holds, where that is no address
    };

    // What the environment says about the hub, its cache, proxies and tokens; models go below
    // `dataFolder`.
    static Setup setupFrom(const QProcessEnvironment &environment, const QString &dataFolder);

    // The database outlives the controller.
    ModelsController(DatabaseThread &database, Setup setup, QObject *parent = nullptr);
    ~ModelsController() override;

    void start();
    void setFolderInUse(const QString &folder);
    // Of a drafter that is whole, verified and covered by a consent in force; empty: none.
    QString drafterFolder() const { return m_drafterFolder; }

    // Rows are those of the list.
    Q_INVOKABLE void review(int row); // asks for the terms and shows them
    Q_INVOKABLE void accept(); // what the prompt shows, and begins the download
    Q_INVOKABLE void decline();
    Q_INVOKABLE void retryReview();
    Q_INVOKABLE void pause(int row);
    Q_INVOKABLE void resume(int row);
    Q_INVOKABLE void cancel(int row); // and deletes what has arrived
    Q_INVOKABLE void remove(int row); // deletes a model, or forgets an added folder
    Q_INVOKABLE void withdraw(int row);
    Q_INVOKABLE void use(int row);
    Q_INVOKABLE void useShipped(); // the model that came with the program
    Q_INVOKABLE void addFolder(const QUrl &folder);
    // Where models go from now on. modelsFolderChanged() follows, or a notice says why not.
    Q_INVOKABLE void setModelsFolder(const QUrl &folder);
    Q_INVOKABLE void dismissNotice();
    Q_INVOKABLE void setToken(const QString &token);
    Q_INVOKABLE QUrl pageOf(int row) const; // at the hub

    ModelListModel *list() { return &m_list; }
    LicensePrompt *prompt() { return &m_prompt; }
    bool isShippedInUse() const { return m_folderInUse.isEmpty(); }
    bool hasToken() const { return !m_token.token().isEmpty(); }
    bool ownsToken() const { return m_token.isOwn(); }
    QString tokenText() const { return m_token.sourceText(); }
    QString hubText() const;
    QString modelsFolder() const { return m_modelsFolder; }
    QString folderInUse() const { return m_folderInUse; }
    QString notice() const { return m_notice; }

Q_SIGNALS:
    void tokenChanged();
    void noticeChanged();
    void modelsFolderChanged();
    void folderInUseChanged();
    void listed(); // what was stored is known, drafterFolder() too
    void drafterFolderChanged();
    void useRequested(const QString &folder); // empty: the one that came with the program

private:
    // Runs work on the download thread, later.
    template <typename F> void call(F &&work)
    {
        QMetaObject::invokeMethod(
            m_manager, [manager = m_manager, work = std::forward<F>(work)] { work(*manager); });
    }
    template <typename F> void callFor(int row, F work)
    {
        if (const ModelStatus *status = m_list.at(row))
            call([work, repository = status->model.repository, revision = status->model.revision](
                     DownloadManager &manager) { (manager.*work)(repository, revision); });
    }
    void setNotice(const QString &notice);
    void findDrafter();

    QUrl m_endpoint;
    QString m_refusedEndpoint;
    QString m_modelsFolder;
    QString m_folderInUse;
    QString m_drafterFolder;
    bool m_isListed = false;
    HubToken m_token;
    ModelListModel m_list;
    LicensePrompt m_prompt;
    QString m_notice;
    QThread m_thread;
    DownloadManager *m_manager = nullptr; // lives on m_thread, deleted when it ends
};

} // namespace firesteel::app
