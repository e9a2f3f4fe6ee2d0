// SPDX-License-Identifier: MIT
#include "app/settings/load_settings.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace firesteel::app {

namespace {

constexpr double kGibibyte = 1 << 30;
constexpr double kMebibytesPerGibibyte = 1024;
constexpr int kAnyModelsContext = 1 << 20; // while none is known

bool isSame(const engine::LoadOptions &a, const engine::LoadOptions &b)
{
    return a.contextTokens == b.contextTokens && a.threads == b.threads
        && a.sequences == b.sequences && a.memoryReserveBytes == b.memoryReserveBytes;
}

QString bytesText(std::uint64_t bytes)
{
    const double gibibytes = static_cast<double>(bytes) / kGibibyte;
    const QLocale locale;
    if (gibibytes >= 1)
        return LoadSettings::tr("%1 GiB").arg(locale.toString(gibibytes, 'f', 1));
    return LoadSettings::tr("%1 MiB").arg(
        locale.toString(gibibytes * kMebibytesPerGibibyte, 'f', 0));
}

std::uint64_t modelBytes(const engine::LoadEstimate &estimate)
{
    return estimate.weightBytes + estimate.drafterBytes;
}

// The engine's own words where no memory is concerned.
QString refusalText(const engine::LoadEstimate &estimate)
{
    if (!estimate.refusal)
        return {};
    if (estimate.refusal->code != engine::ErrorCode::OutOfMemory)
        return QString::fromStdString(estimate.refusal->message);
    const std::uint64_t free = estimate.availableBytes > estimate.reserveBytes
        ? estimate.availableBytes - estimate.reserveBytes
        : 0;
    return LoadSettings::tr(
               "A context of %1 tokens needs %2; %3 are free beside the reserve of %4.")
        .arg(QLocale().toString(estimate.contextTokens),
             bytesText(modelBytes(estimate) + estimate.stateBytes), bytesText(free),
             bytesText(estimate.reserveBytes));
}

std::optional<double> numberFrom(const QString &text)
{
    bool isNumber = false;
    double number = QLocale().toDouble(text.trimmed(), &isNumber);
    if (!isNumber)
        number = QLocale::c().toDouble(text.trimmed(), &isNumber);
    return isNumber && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

} // namespace

LoadSettings::LoadSettings(AppSettings &settings, EngineController &engine, QObject *parent)
    : QObject(parent)
    , m_settings(settings)
    , m_engine(engine)
    , m_draft(settings.loadOptions())
{
    m_engine.setLoadOptions(m_draft);
    connect(&m_engine, &EngineController::stateChanged, this, [this] {
        Q_EMIT edited(); // what waits may be in effect by now
        const auto state = m_engine.state();
        if (state == EngineController::State::Ready || state == EngineController::State::Failed)
            refresh();
    });
}

void LoadSettings::setContextTokens(int tokens)
{
    engine::LoadOptions draft = m_draft;
    draft.contextTokens = tokens <= 0 ? 0 : std::max(tokens, kLeastContext);
    setDraft(draft);
}

double LoadSettings::reserveGibibytes() const
{
    return static_cast<double>(m_draft.memoryReserveBytes) / kGibibyte;
}

void LoadSettings::setReserveGibibytes(double gibibytes)
{
    if (!std::isfinite(gibibytes))
        return;
    const double mebibytes = std::clamp(std::round(gibibytes * kMebibytesPerGibibyte),
                                        double { AppSettings::kLeastReserveMebibytes },
                                        double { AppSettings::kGreatestReserveMebibytes });
    engine::LoadOptions draft = m_draft;
    draft.memoryReserveBytes = static_cast<std::uint64_t>(mebibytes) << 20U;
    setDraft(draft);
}

void LoadSettings::setThreads(int threads)
{
    engine::LoadOptions draft = m_draft;
    draft.threads = std::clamp(threads, 0, AppSettings::kMostThreads);
    setDraft(draft);
}

void LoadSettings::setSequences(int sequences)
{
    engine::LoadOptions draft = m_draft;
    draft.sequences = std::clamp(sequences, 0, engine::kMaxSequences);
    setDraft(draft);
}

bool LoadSettings::setContextText(const QString &text)
{
    const auto number = numberFrom(text);
    if (number)
        setContextTokens(static_cast<int>(std::clamp(*number, 0.0, 1e9)));
    return number.has_value();
}

bool LoadSettings::setReserveText(const QString &text)
{
    const auto number = numberFrom(text);
    if (number)
        setReserveGibibytes(*number);
    return number.has_value();
}

bool LoadSettings::setThreadsText(const QString &text)
{
    const auto number = numberFrom(text);
    if (number)
        setThreads(static_cast<int>(std::clamp(*number, 0.0, 1e9)));
    return number.has_value();
}

bool LoadSettings::setSequencesText(const QString &text)
{
    const auto number = numberFrom(text);
    if (number)
        setSequences(static_cast<int>(std::clamp(*number, 0.0, 1e9)));
    return number.has_value();
}

void LoadSettings::setDraft(const engine::LoadOptions &draft)
{
    if (!isSame(draft, m_draft)) {
        m_draft = draft;
        m_isOfDraft = false;
        Q_EMIT estimated();
        refresh();
    }
    Q_EMIT edited(); // a field shows what its input became
}

bool LoadSettings::isChanged() const { return !isSame(m_draft, m_settings.loadOptions()); }

bool LoadSettings::isWaiting() const
{
    return !m_engine.loadedWith().modelDirectory.empty()
        && !isSame(m_settings.loadOptions(), m_engine.loadedWith());
}

bool LoadSettings::canApply() const { return m_isOfDraft && m_refusal.isEmpty(); }

void LoadSettings::applyNow()
{
    if (!canApply())
        return;
    applyAtNextStart();
    m_engine.setLoadOptions(m_draft);
    m_engine.reload();
}

void LoadSettings::applyAtNextStart()
{
    if (!canApply())
        return;
    m_settings.setLoadOptions(m_draft);
    Q_EMIT edited();
}

void LoadSettings::discard() { setDraft(m_settings.loadOptions()); }

// One estimate runs at a time; a draft that changed meanwhile is estimated after it.
void LoadSettings::refresh()
{
    m_isOutdated = m_isEstimating;
    if (m_isEstimating)
        return;
    m_isEstimating = true;
    m_engine.estimate(m_draft).then(this,
                                    [this](const engine::Result<engine::LoadEstimate> &estimate) {
                                        m_isEstimating = false;
                                        m_isOfDraft = m_isOfDraft || !m_isOutdated;
                                        onEstimate(estimate);
                                        if (m_isOutdated)
                                            refresh();
                                    });
}

void LoadSettings::onEstimate(const engine::Result<engine::LoadEstimate> &estimate)
{
    m_estimate.reset();
    m_refusal.clear();
    if (estimate) {
        m_estimate = *estimate;
        m_refusal = refusalText(*estimate);
    }
    Q_EMIT estimated();
}

int LoadSettings::longestContext() const
{
    return m_estimate ? m_estimate->longestTokens : kAnyModelsContext;
}

QString LoadSettings::needText() const
{
    if (!m_estimate)
        return {};
    return tr("%1 for the model, %2 for the context")
        .arg(bytesText(modelBytes(*m_estimate)), bytesText(m_estimate->stateBytes));
}

QString LoadSettings::freeText() const
{
    if (!m_estimate)
        return {};
    return tr("%1 of memory can be used, %2 of it stay free for other programs")
        .arg(bytesText(m_estimate->availableBytes), bytesText(m_estimate->reserveBytes));
}

double LoadSettings::shareOf(std::uint64_t bytes) const
{
    if (!m_estimate || m_estimate->availableBytes == 0)
        return 0;
    return std::min(1.0,
                    static_cast<double>(bytes) / static_cast<double>(m_estimate->availableBytes));
}

double LoadSettings::weightShare() const
{
    return m_estimate ? shareOf(modelBytes(*m_estimate)) : 0;
}

double LoadSettings::stateShare() const { return m_estimate ? shareOf(m_estimate->stateBytes) : 0; }

double LoadSettings::reserveShare() const
{
    return m_estimate ? shareOf(m_estimate->reserveBytes) : 0;
}

} // namespace firesteel::app
