// SPDX-License-Identifier: MIT
#include "app/monitor/performance_monitor.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLocale>
#include <QtConcurrentRun>

#include <algorithm>
#include <cmath>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Phase = engine::RequestStatus::Phase;

// Looks further apart than this tell no rate: the panel was closed or paused in between.
constexpr qint64 kMostMillisecondsBetween = 3000;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

double gibibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / kGibibyte; }

// The one request that decodes, where nothing else runs.
std::optional<engine::RequestId> onlyDecoding(const engine::EngineStats &stats)
{
    std::optional<engine::RequestId> found;
    for (const engine::RequestStatus &request : stats.requests) {
        if (request.phase == Phase::Waiting)
            continue;
        if (found || request.phase != Phase::Decode)
            return std::nullopt;
        found = request.id;
    }
    return found;
}

std::optional<double> rate(std::uint64_t before, std::uint64_t now, double seconds)
{
    // Counters start again with a load.
    return now < before ? 0 : static_cast<double>(now - before) / seconds;
}

QString timeLeft(double seconds)
{
    const auto whole = static_cast<int>(std::lround(seconds));
    if (whole < 1)
        return PerformanceMonitor::tr("less than a second left");
    if (whole < 100)
        return PerformanceMonitor::tr("%1 s left").arg(whole);
    return PerformanceMonitor::tr("%1 min left").arg((whole + 30) / 60);
}

} // namespace

PerformanceMonitor::PerformanceMonitor(engine::Engine &engine, MachineSources sources,
                                       QObject *parent)
    : QObject(parent)
    , m_engine(engine)
    , m_reader(std::make_shared<MachineReader>(std::move(sources)))
    , m_decodeSpeed(add(u"decode (tok/s)"_s, tr("Writing speed"), tr("tok/s"), 1))
    , m_prefillSpeed(add(u"prefill (tok/s)"_s, tr("Reading speed"), tr("tok/s"), 0))
    , m_firstToken(add(u"time to first token (s)"_s, tr("Time to first token"), tr("s"), 2))
    , m_context(add(u"context in use (tokens)"_s, tr("Context in use"), tr("tokens"), 0))
    , m_running(add(u"requests running"_s, tr("Requests running"), {}, 0))
    , m_waiting(add(u"requests waiting"_s, tr("Requests waiting"), {}, 0))
    , m_programMemory(add(u"memory of Firesteel (GiB)"_s, tr("Firesteel"), tr("GiB"), 2))
    , m_otherMemory(add(u"memory of other programs (GiB)"_s, tr("Other programs"), tr("GiB"), 2))
    , m_freeMemory(add(u"memory free (GiB)"_s, tr("Free memory"), tr("GiB"), 1))
    , m_cpu(add(u"processor (%)"_s, tr("Processor"), tr("%"), 0))
    , m_gpuUse(add(u"GPU use (%)"_s, tr("Use"), tr("%"), 0))
    , m_gpuPower(add(u"GPU power (W)"_s, tr("Power"), tr("W"), 0))
    , m_gpuTemperature(add(u"GPU temperature (°C)"_s, tr("Temperature"), tr("°C"), 0))
    , m_gpuClock(add(u"GPU clock (MHz)"_s, tr("Clock"), tr("MHz"), 0))
    , m_drafting([this](const QString &key, const QString &name, const QString &unit,
                        int decimals) { return add(key, name, unit, decimals); })
    , m_engineMetrics({ m_prefillSpeed, m_firstToken, m_context })
    , m_machineMetrics({ m_programMemory, m_otherMemory, m_freeMemory, m_cpu })
    , m_gpuMetrics({ m_gpuUse, m_gpuPower, m_gpuTemperature, m_gpuClock })
    , m_reserveBytes(engine::LoadOptions().memoryReserveBytes)
    , m_started(QDateTime::currentDateTimeUtc())
{
    m_prefillSpeed->setWordsWithoutValue(tr("not known yet"));
    m_context->setWordsWithoutValue(tr("no model"));
    m_firstToken->setWordsWithoutValue(tr("no answer yet"));
    m_clock.start();
    m_workers.setMaxThreadCount(1);
    m_timer.setInterval(kIntervalMilliseconds);
    m_timer.setTimerType(Qt::CoarseTimer);
    connect(&m_timer, &QTimer::timeout, this, &PerformanceMonitor::look);
}

PerformanceMonitor::~PerformanceMonitor() = default;

MetricHistory *PerformanceMonitor::add(const QString &key, const QString &name, const QString &unit,
                                       int decimals)
{
    m_metrics.push_back(new MetricHistory(key, name, unit, decimals, this));
    return m_metrics.back();
}

void PerformanceMonitor::setWatched(QObject *view, bool isVisible)
{
    if (isVisible == m_views.contains(view))
        return;
    if (isVisible) {
        m_views.insert(view);
        connect(view, &QObject::destroyed, this, [this](QObject *gone) {
            m_views.remove(gone);
            update();
        });
    } else {
        m_views.remove(view);
        disconnect(view, &QObject::destroyed, this, nullptr);
    }
    update();
}

void PerformanceMonitor::setPaused(bool paused)
{
    if (paused == m_isPaused)
        return;
    m_isPaused = paused;
    Q_EMIT pausedChanged();
    update();
}

void PerformanceMonitor::update()
{
    const bool isWanted = !m_views.isEmpty() && !m_isPaused;
    if (isWanted == m_timer.isActive())
        return;
    if (isWanted) {
        m_timer.start();
        look();
    } else {
        m_timer.stop();
    }
    Q_EMIT samplingChanged();
}

void PerformanceMonitor::look()
{
    if (std::exchange(m_isLooking, true))
        return; // the driver takes its time
    QtConcurrent::run(&m_workers, [engine = &m_engine, reader = m_reader] {
        return Look { engine->stats(), reader->read() };
    }).then(this, [this](const Look &look) {
        m_isLooking = false;
        if (isSampling())
            take(look);
    });
}

PerformanceMonitor::Rates PerformanceMonitor::ratesSince(const engine::EngineStats &before,
                                                         const engine::EngineStats &now,
                                                         double seconds) const
{
    Rates rates;
    if (seconds <= 0 || now.state != engine::EngineStats::State::Ready)
        return rates;
    rates.decode = rate(before.decodedTokens, now.decodedTokens, seconds);
    rates.prefill = rate(before.prefillTokens, now.prefillTokens, seconds);
    const auto decoding = onlyDecoding(now);
    if (decoding && decoding == onlyDecoding(before))
        rates.steps = rate(before.decodeSteps, now.decodeSteps, seconds);
    return rates;
}

void PerformanceMonitor::note(MetricHistory *metric, std::optional<double> value)
{
    metric->add({ m_lastLook, value });
}

void PerformanceMonitor::take(const Look &look)
{
    const engine::EngineStats before = std::exchange(m_stats, look.stats);
    const qint64 now = m_clock.elapsed();
    const qint64 passed = m_lastLook < 0 ? kMostMillisecondsBetween + 1 : now - m_lastLook;
    m_lastLook = now;
    const Rates rates = passed <= kMostMillisecondsBetween
        ? ratesSince(before, m_stats, static_cast<double>(passed) / 1000.0)
        : Rates();
    m_prefill.reset();
    for (const engine::RequestStatus &request : m_stats.requests) {
        if (request.phase == Phase::Prefill && !m_prefill)
            m_prefill = request;
    }
    const bool isReady = m_stats.state == engine::EngineStats::State::Ready;
    const auto whenReady
        = [isReady](double value) { return isReady ? std::optional(value) : std::nullopt; };
    note(m_decodeSpeed, rates.decode);
    note(m_prefillSpeed, rates.prefill);
    note(m_firstToken,
         m_stats.timeToFirstTokenSeconds > 0 ? std::optional(m_stats.timeToFirstTokenSeconds)
                                             : std::nullopt);
    note(m_context, whenReady(m_stats.usedTokens));
    note(m_running, whenReady(m_stats.runningRequests));
    note(m_waiting, whenReady(m_stats.waitingRequests));
    m_drafting.take(now, m_stats.drafting, m_stats.draftTokens, passed <= kMostMillisecondsBetween);

    const MachineSample &machine = look.machine;
    m_memory = {};
    if (machine.memory) {
        // A GPU with memory of its own takes nothing from the machine's.
        const bool isShared = !machine.gpuFacts.memoryBytes;
        const std::uint64_t gpuProcess
            = isShared && machine.gpu ? machine.gpu->processBytes.value_or(0) : 0;
        const MemoryShares shares
            = shareOut(*machine.memory, machine.process, gpuProcess,
                       m_stats.weightBytes + m_stats.drafterBytes, m_stats.stateBytes);
        m_memory.total = static_cast<double>(shares.total);
        m_memory.weights = static_cast<double>(shares.weights);
        m_memory.states = static_cast<double>(shares.states);
        m_memory.program = static_cast<double>(shares.program);
        m_memory.others = static_cast<double>(shares.others);
        m_memory.free = static_cast<double>(shares.free);
        m_memory.reserve = static_cast<double>(m_reserveBytes);
        note(m_programMemory, gibibytes(shares.weights + shares.states + shares.program));
        note(m_otherMemory, gibibytes(shares.others));
        note(m_freeMemory, gibibytes(shares.free));
    } else {
        note(m_programMemory, {});
        note(m_otherMemory, {});
        note(m_freeMemory, {});
    }
    note(m_cpu, machine.cpuPercent);
    const GpuSample gpu = machine.gpu.value_or(GpuSample());
    note(m_gpuUse, gpu.usePercent);
    note(m_gpuPower, gpu.powerWatts);
    note(m_gpuTemperature, gpu.temperatureCelsius);
    note(m_gpuClock, gpu.clockMegahertz);
    m_gpuName = machine.gpuFacts.name;
    m_gpuDriver = machine.gpuFacts.driverVersion;
    m_gpuProblem = machine.gpuProblem;

    m_requests.update(m_stats.requests);
    QStringList warnings = m_watch.add({ now, machine, m_reserveBytes, rates.steps });
    if (warnings != m_warnings) {
        m_warnings = std::move(warnings);
        Q_EMIT warningsChanged();
    }
    Q_EMIT sampled();
}

void PerformanceMonitor::stopRequest(int row)
{
    if (const auto id = m_requests.idAt(row))
        m_engine.cancel(*id);
}

bool PerformanceMonitor::isDecoding() const
{
    return std::ranges::contains(m_stats.requests, Phase::Decode, &engine::RequestStatus::phase);
}

double PerformanceMonitor::prefillFraction() const
{
    if (!m_prefill || m_prefill->promptTokens <= 0)
        return 0;
    return static_cast<double>(m_prefill->processedTokens) / m_prefill->promptTokens;
}

QString PerformanceMonitor::prefillText() const
{
    if (!m_prefill)
        return {};
    const QLocale locale;
    QString tokens = tr("%1 of %2 tokens")
                         .arg(locale.toString(m_prefill->processedTokens),
                              locale.toString(m_prefill->promptTokens));
    const double speed = m_stats.prefillTokensPerSecond;
    if (m_prefill->processedTokens == 0 || speed <= 0)
        return tokens;
    const int left = m_prefill->promptTokens - m_prefill->processedTokens;
    return tr("%1 · %2").arg(tokens, timeLeft(left / speed));
}

QString PerformanceMonitor::csv() const
{
    QStringList header { u"time (UTC)"_s };
    for (const MetricHistory *metric : m_metrics)
        header << metric->key();
    QString text = header.join(u',') + u'\n';
    // Every look adds a point to every history.
    for (std::size_t i = 0; i < m_decodeSpeed->size(); ++i) {
        QStringList line {
            m_started.addMSecs(m_decodeSpeed->at(i).time).toString(Qt::ISODateWithMs)
        };
        for (const MetricHistory *metric : m_metrics) {
            const auto value = metric->at(i).value;
            line << (value ? QString::number(*value, 'g', 7) : QString());
        }
        text += line.join(u',') + u'\n';
    }
    return text;
}

void PerformanceMonitor::copyCsv() const { QGuiApplication::clipboard()->setText(csv()); }

} // namespace firesteel::app
