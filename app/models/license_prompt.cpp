// SPDX-License-Identifier: MIT
#include "app/models/license_prompt.h"

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

void LicensePrompt::begin(const ModelStatus &status)
{
    m_status = status;
    m_terms.reset();
    m_problem.reset();
    m_state = State::Loading;
    Q_EMIT changed();
}

void LicensePrompt::show(const LicenseTerms &terms)
{
    m_terms = terms;
    m_state = State::Shown;
    Q_EMIT changed();
}

void LicensePrompt::fail(const ModelProblem &problem)
{
    m_problem = problem;
    m_state = State::Failed;
    Q_EMIT changed();
}

void LicensePrompt::close()
{
    m_state = State::Closed;
    Q_EMIT changed();
}

bool LicensePrompt::isFor(const QString &repository, const QString &revision) const
{
    return m_state != State::Closed && m_status.model.repository == repository
        && m_status.model.revision == revision;
}

const License *LicensePrompt::license() const
{
    return ModelCatalog::shipped().license(m_terms ? m_terms->licenseId : m_status.model.licenseId);
}

QString LicensePrompt::origin() const
{
    return tr("%1 · %2 at %3")
        .arg(m_status.model.creator, m_status.model.repository, m_status.model.revision.left(8));
}

QString LicensePrompt::licenseName() const
{
    if (m_terms)
        return m_terms->name;
    return license() != nullptr ? license()->name : m_status.model.licenseId;
}

QUrl LicensePrompt::licenseUrl() const
{
    if (m_terms)
        return m_terms->url;
    return license() != nullptr ? license()->url : QUrl();
}

QStringList LicensePrompt::allowed() const
{
    return license() != nullptr ? licenseSummary(license()->id).allowed : QStringList();
}

QStringList LicensePrompt::required() const
{
    return license() != nullptr ? licenseSummary(license()->id).required : QStringList();
}

QStringList LicensePrompt::forbidden() const
{
    return license() != nullptr ? licenseSummary(license()->id).forbidden : QStringList();
}

QString LicensePrompt::note() const
{
    if (m_terms && !m_terms->isAsExpected)
        return tr(
            "The repository states another licence than Firesteel expected. Read it with care.");
    if (m_terms && !m_terms->isStated)
        return tr("The repository states no licence at this revision. This is the one its author "
                  "is known to use; ask them if in doubt.");
    if (m_status.model.role == ModelRole::Drafter)
        return tr("You can decline: Firesteel works without it, only slower.");
    return {};
}

QString LicensePrompt::text() const
{
    if (m_terms)
        return m_terms->text;
    return m_state == State::Failed && license() != nullptr ? license()->text : QString();
}

QString LicensePrompt::source() const
{
    if (!m_terms)
        return text().isEmpty() ? QString() : tr("The standard text that comes with Firesteel.");
    if (m_terms->text.isEmpty())
        return tr("The repository has no licence file, and Firesteel does not know the text.");
    const QString from = m_terms->textSource.isEmpty()
        ? tr("The standard text; the repository has no licence file.")
        : tr("The file %1 of the repository.").arg(m_terms->textSource);
    return tr("%1 SHA-256 %2").arg(from, QString::fromLatin1(m_terms->textSha256));
}

QString LicensePrompt::problem() const
{
    if (!m_problem)
        return {};
    const QString words = problemText(m_problem->kind);
    return m_problem->detail.isEmpty() ? words : u"%1 (%2)"_s.arg(words, m_problem->detail);
}

bool LicensePrompt::isAccepted() const
{
    return m_terms && m_status.consent && m_status.consent->licenseId == m_terms->licenseId
        && m_status.consent->textSha256 == m_terms->textSha256;
}

bool LicensePrompt::isDownloading() const
{
    using State = ModelStatus::State;
    return m_status.state == State::Available || m_status.state == State::Failed
        || m_status.state == State::Missing;
}

} // namespace firesteel::app
