// SPDX-License-Identifier: MIT
//
// Asks the hub what a repository holds at a pinned revision and under which licence: the card's
// statement, the licence file's text where there is one, and the list of files. Needed before a
// person can be asked for consent; fetches no byte of the model. On the download thread.
#pragma once

#include "app/models/hub_client.h"
#include "app/models/model_catalog.h"

#include <QObject>

#include <memory>
#include <vector>

namespace firesteel::app {

// What a person is asked to accept, from the repository at the revision.
struct LicenseTerms
{
    QString repository;
    QString revision;
    QString licenseId; // SPDX where the catalogue knows it, else as the repository spells it
    QString name;
    QUrl url;
    QString text;
    QByteArray textSha256; // hexadecimal
    QString textSource; // its path in the repository; empty: the standard text of the licence
    bool isStated = true; // by the repository; else the catalogue's word is all there is
    bool isAsExpected = true; // the licence that the catalogue states
    bool isRestricted = false;
    std::vector<HubFile> files;
};

// Begins at once and ends with one signal.
class TermsInquiry : public QObject
{
    Q_OBJECT

public:
    TermsInquiry(HubClient &client, const ModelCatalog &catalog, const CatalogModel &model,
                 QObject *parent = nullptr);
    ~TermsInquiry() override;

    const CatalogModel &model() const { return m_model; }

Q_SIGNALS:
    void answered(const firesteel::app::LicenseTerms &terms);
    void failed(const firesteel::app::ModelProblem &problem);

private:
    void ask(const QUrl &url, void (TermsInquiry::*read)());
    void readRevision();
    void readTree();
    void readText();
    void finish(const QByteArray &text, const QString &source);

    HubClient &m_client;
    const ModelCatalog &m_catalog;
    CatalogModel m_model;
    LicenseTerms m_terms;
    std::unique_ptr<HubRequest> m_request;
    QByteArray m_body;
    HubFile m_licenseFile;
    int m_pages = 0;
    int m_attempts = 0;
};

} // namespace firesteel::app
