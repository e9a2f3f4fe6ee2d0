// SPDX-License-Identifier: MIT
#include "app/remote/remote_monitor.h"

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

std::optional<double> percent(std::optional<double> share)
{
    return share.transform([](double value) { return 100 * value; });
}

// Of the tokens guessed between two readings, how many were right; nothing where none was guessed.
std::optional<double> acceptance(const RemoteReading &before, const RemoteReading &now)
{
    const auto drafted = ratePerSecond(before.draftedTotal, now.draftedTotal, 1);
    const auto accepted = ratePerSecond(before.acceptedTotal, now.acceptedTotal, 1);
    if (!drafted || !accepted || *drafted <= 0)
        return std::nullopt;
    return *accepted / *drafted;
}

} // namespace

RemoteMonitor::RemoteMonitor(RemoteEngines &engines, RemoteClient &client, QObject *parent)
    : QObject(parent)
    , m_engines(engines)
    , m_client(client)
    , m_generation(add(u"remote decode (tok/s)"_s, tr("Writing, all its requests"), tr("tok/s"), 1))
    , m_prompt(add(u"remote prefill (tok/s)"_s, tr("Reading, all its requests"), tr("tok/s"), 0))
    , m_running(add(u"remote running"_s, tr("Running there"), tr("requests"), 0))
    , m_waiting(add(u"remote waiting"_s, tr("Waiting there"), tr("requests"), 0))
    , m_cacheUse(add(u"remote cache (%)"_s, tr("Its context memory in use"), u"%"_s, 0))
    , m_acceptance(add(u"remote accepted (%)"_s, tr("Guesses right"), u"%"_s, 0))
{
    m_clock.start();
    m_timer.setInterval(kIntervalMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &RemoteMonitor::ask);
    // It was renamed, moved or removed, or its key has come.
    connect(&m_engines, &RemoteEngines::enginesChanged, this, [this] { show(m_id); });
}

RemoteMonitor::~RemoteMonitor() = default;

MetricHistory *RemoteMonitor::add(const QString &key, const QString &name, const QString &unit,
                                  int decimals)
{
    m_metrics.push_back(new MetricHistory(key, name, unit, decimals, this));
    return m_metrics.back();
}

void RemoteMonitor::show(const QString &engineId)
{
    m_id = engineId;
    const RemoteEngine *found = m_engines.find(engineId);
    const std::optional<RemoteEngine> engine = found ? std::optional(*found) : std::nullopt;
    if (engine == m_engine)
        return;
    m_engine = engine;
    m_last.reset();
    for (MetricHistory *metric : std::as_const(m_metrics))
        metric->clear();
    setState({});
    Q_EMIT engineChanged();
    restart();
}

void RemoteMonitor::setWatched(bool isWatched)
{
    if (isWatched == m_isWatched)
        return;
    m_isWatched = isWatched;
    m_last.reset(); // a rate over the time when nobody looked says nothing
    restart();
}

void RemoteMonitor::restart()
{
    m_get.reset();
    if (m_isWatched && m_engine) {
        m_timer.start();
        ask();
    } else {
        m_timer.stop();
    }
}

void RemoteMonitor::ask()
{
    if (m_get)
        return; // the last answer is slow
    m_get = m_client.get(metricsUrl(m_engine->base), m_engines.keyOf(*m_engine));
    connect(m_get.get(), &RemoteGet::finished, this, &RemoteMonitor::onAnswered,
            Qt::QueuedConnection); // it ends with its request
}

void RemoteMonitor::onAnswered()
{
    if (!m_get || !m_get->hasFinished())
        return; // of an engine that is not shown any more
    const std::unique_ptr<RemoteGet> get = std::move(m_get);
    if (!get->answer()) {
        m_last.reset();
        note({});
        setState(
            tr("Not available. %1").arg(QString::fromStdString(get->answer().error().message)));
        return;
    }
    const RemoteReading reading = readingOf(PrometheusText(*get->answer()));
    note(reading);
    setState(reading.server.isEmpty()
                 ? tr("Not available: its metrics are those of no server known here.")
                 : reading.server);
}

void RemoteMonitor::note(const RemoteReading &reading)
{
    const qint64 now = m_clock.elapsed();
    const double seconds = static_cast<double>(now - m_lastTime) / 1000;
    const RemoteReading before = m_last.value_or(RemoteReading {});
    const auto rate = ratePerSecond(before.generatedTotal, reading.generatedTotal, seconds);
    m_generation->add({ now, reading.generationRate ? reading.generationRate : rate });
    m_prompt->add({ now, ratePerSecond(before.promptTotal, reading.promptTotal, seconds) });
    m_running->add({ now, reading.running });
    m_waiting->add({ now, reading.waiting });
    m_cacheUse->add({ now, percent(reading.cacheUse) });
    m_acceptance->add({ now, percent(acceptance(before, reading)) });
    m_last = reading;
    m_lastTime = now;
}

void RemoteMonitor::setState(const QString &text)
{
    m_stateText = text;
    Q_EMIT sampled();
}

} // namespace firesteel::app
