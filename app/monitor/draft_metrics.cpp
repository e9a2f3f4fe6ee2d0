// SPDX-License-Identifier: MIT
#include "app/monitor/draft_metrics.h"

#include <optional>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using engine::DraftCounts;

constexpr double kMillisecondsPerSecond = 1000;

// Counters start again with a load.
DraftCounts difference(const DraftCounts &before, DraftCounts now)
{
    if (now.steps < before.steps)
        return now;
    now.steps -= before.steps;
    now.drafted -= before.drafted;
    now.accepted -= before.accepted;
    for (std::size_t k = 0; k < now.draftedAt.size(); ++k) {
        now.draftedAt.at(k) -= before.draftedAt.at(k);
        now.acceptedAt.at(k) -= before.acceptedAt.at(k);
    }
    now.draftSeconds -= before.draftSeconds;
    now.verifySeconds -= before.verifySeconds;
    return now;
}

std::optional<double> ratio(double part, int whole)
{
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

std::optional<double> perStep(const DraftCounts &counts)
{
    return ratio(counts.accepted, counts.steps);
}

} // namespace

DraftMetrics::DraftMetrics(const AddHistory &add, QObject *parent)
    : QObject(parent)
    , m_perStep(add(u"accepted per step"_s, tr("Accepted per step"), {}, 2))
    , m_draftTime(add(u"draft (ms per step)"_s, tr("Drafting, a step"), tr("ms"), 2))
    , m_verifyTime(add(u"verify (ms per step)"_s, tr("Verifying, a step"), tr("ms"), 2))
    , m_draftTokens(add(u"K"_s, tr("Guesses per step (K)"), {}, 0))
    , m_metrics({ m_perStep, m_draftTime, m_verifyTime, m_draftTokens })
{
    for (MetricHistory *metric : m_metrics)
        metric->setWordsWithoutValue(tr("resting"));
    for (std::size_t k = 0; k < m_acceptedAt.size(); ++k)
        m_acceptedAt.at(k) = add(u"accepted at %1 (%)"_s.arg(k + 1), {}, tr("%"), 0);
}

void DraftMetrics::take(qint64 time, const DraftCounts &totals, int draftTokens, bool isRecent)
{
    const DraftCounts before = std::exchange(m_totals, totals);
    if (totals.steps < before.steps)
        m_looks.clear(); // of a model that is gone
    DraftCounts now = difference(before, totals);
    if (now.drafted > 0) {
        m_looks.push_back(now);
        if (m_looks.size() > kLooks)
            m_looks.pop_front();
    }
    if (!isRecent || now.drafted == 0)
        now = {};
    m_perStep->add({ time, perStep(now) });
    m_draftTime->add({ time, ratio(now.draftSeconds * kMillisecondsPerSecond, now.steps) });
    m_verifyTime->add({ time, ratio(now.verifySeconds * kMillisecondsPerSecond, now.steps) });
    m_draftTokens->add({ time, ratio(draftTokens, now.steps > 0 ? 1 : 0) });
    for (std::size_t k = 0; k < m_acceptedAt.size(); ++k)
        m_acceptedAt.at(k)->add({ time, ratio(100.0 * now.acceptedAt.at(k), now.draftedAt.at(k)) });
    if (now.steps > 0 || totals.steps < before.steps || before.drafted != totals.drafted)
        Q_EMIT changed();
}

DraftCounts DraftMetrics::recent() const
{
    DraftCounts sum;
    for (const DraftCounts &look : m_looks)
        sum += look;
    return sum;
}

QList<double> DraftMetrics::acceptance() const
{
    const DraftCounts counts = recent();
    QList<double> shares;
    for (std::size_t k = 0; k < counts.draftedAt.size(); ++k) {
        if (counts.draftedAt.at(k) > 0)
            shares << static_cast<double>(counts.acceptedAt.at(k)) / counts.draftedAt.at(k);
    }
    return shares;
}

double DraftMetrics::acceptedPerStep() const { return perStep(recent()).value_or(0); }

} // namespace firesteel::app
