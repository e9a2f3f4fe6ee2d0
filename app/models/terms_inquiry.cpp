// SPDX-License-Identifier: MIT
#include "app/models/terms_inquiry.h"

#include <QCryptographicHash>
#include <QRegularExpression>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

// No answer of the hub's API and no licence is larger; what is, is not read.
constexpr qsizetype kLargestAnswer = 16 << 20;
constexpr qint64 kLargestLicense = 1 << 20;
constexpr int kMostPages = 100;
constexpr int kAttempts = 4;
constexpr std::chrono::seconds kFirstPause { 1 };
constexpr std::chrono::seconds kLongestPause { 60 };

const HubFile *licenseFile(const std::vector<HubFile> &files)
{
    static const QRegularExpression name(u"^licen[cs]e(\\.(md|txt))?$"_s,
                                         QRegularExpression::CaseInsensitiveOption);
    const auto found = std::ranges::find_if(files, [](const HubFile &file) {
        return file.size > 0 && file.size <= kLargestLicense && name.match(file.path).hasMatch();
    });
    return found == files.end() ? nullptr : &*found;
}

} // namespace

TermsInquiry::TermsInquiry(HubClient &client, const ModelCatalog &catalog,
                           const CatalogModel &model, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_catalog(catalog)
    , m_model(model)
{
    m_terms.repository = model.repository;
    m_terms.revision = model.revision;
    ask(hubRevisionUrl(client.setup().endpoint, model.repository, model.revision),
        &TermsInquiry::readRevision);
}

TermsInquiry::~TermsInquiry() = default;

void TermsInquiry::ask(const QUrl &url, void (TermsInquiry::*read)())
{
    m_body.clear();
    m_request.reset(m_client.get(url));
    connect(m_request.get(), &HubRequest::readable, this, [this] {
        m_body += m_request->readAll();
        if (m_body.size() > kLargestAnswer) {
            m_request->abort();
            Q_EMIT failed({ Kind::BadAnswer, m_request->url().host(), {} });
        }
    });
    connect(m_request.get(), &HubRequest::finished, this, [this, url, read] {
        m_body += m_request->readAll();
        const auto trouble = m_request->problem();
        if (!trouble) {
            m_attempts = 0;
            (this->*read)();
        } else if (isTransient(trouble->kind) && ++m_attempts < kAttempts) {
            const auto pause = std::clamp<std::chrono::seconds>(
                kFirstPause * (1 << (m_attempts - 1)), trouble->retryAfter, kLongestPause);
            QTimer::singleShot(pause, this, [this, url, read] { ask(url, read); });
        } else {
            Q_EMIT failed(*trouble);
        }
    });
}

void TermsInquiry::readRevision()
{
    const auto revision = parseHubRevision(m_body);
    if (!revision) {
        Q_EMIT failed(revision.error());
        return;
    }
    if (revision->sha != m_model.revision) {
        Q_EMIT failed({ Kind::RevisionNotFound, revision->sha, {} });
        return;
    }
    m_terms.isStated = !revision->license.isEmpty();
    const License *license = m_terms.isStated ? m_catalog.licenseOfHub(revision->license)
                                              : m_catalog.license(m_model.licenseId);
    if (license != nullptr) {
        m_terms.licenseId = license->id;
        m_terms.name = license->name;
        m_terms.url = license->url;
        m_terms.isRestricted = license->isRestricted;
    } else {
        m_terms.licenseId = revision->license;
        m_terms.name = revision->license;
        m_terms.url = hubPageUrl(m_client.setup().endpoint, m_model.repository);
        m_terms.isRestricted = true; // nobody here has read it
    }
    m_terms.isAsExpected = m_terms.licenseId == m_model.licenseId;
    m_pages = 0;
    ask(hubTreeUrl(m_client.setup().endpoint, m_model.repository, m_model.revision),
        &TermsInquiry::readTree);
}

void TermsInquiry::readTree()
{
    auto page = parseHubTree(m_body, m_request->header("Link"), m_request->url());
    if (!page) {
        Q_EMIT failed(page.error());
        return;
    }
    for (HubFile &file : page->files) {
        const bool isKnown = std::ranges::any_of(
            m_terms.files, [&](const HubFile &other) { return other.path == file.path; });
        if (isKnown) {
            Q_EMIT failed({ Kind::BadAnswer, file.path, {} });
            return;
        }
        m_terms.files.push_back(std::move(file));
    }
    if (!page->next.isEmpty() && ++m_pages < kMostPages) {
        ask(page->next, &TermsInquiry::readTree);
        return;
    }
    if (m_terms.files.empty() || !page->next.isEmpty()) {
        Q_EMIT failed({ Kind::BadAnswer, u"the file list"_s, {} });
        return;
    }
    if (const HubFile *license = licenseFile(m_terms.files)) {
        m_licenseFile = *license;
        ask(hubFileUrl(m_client.setup().endpoint, m_model.repository, m_model.revision,
                       license->path),
            &TermsInquiry::readText);
        return;
    }
    const License *standard = m_catalog.license(m_terms.licenseId);
    finish(standard != nullptr ? standard->text.toUtf8() : QByteArray(), {});
}

void TermsInquiry::readText()
{
    ContentHash hash(m_licenseFile.kind, m_licenseFile.size);
    hash.add(m_body);
    if (m_body.size() != m_licenseFile.size || hash.hexDigest() != m_licenseFile.digest) {
        Q_EMIT failed({ Kind::ContentMismatch, m_licenseFile.path, {} });
        return;
    }
    finish(m_body, m_licenseFile.path);
}

void TermsInquiry::finish(const QByteArray &text, const QString &source)
{
    m_terms.text = QString::fromUtf8(text);
    m_terms.textSha256 = QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex();
    m_terms.textSource = source;
    Q_EMIT answered(m_terms);
}

} // namespace firesteel::app
