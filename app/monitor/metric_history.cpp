// SPDX-License-Identifier: MIT
#include "app/monitor/metric_history.h"

#include <QLocale>

#include <algorithm>
#include <utility>

namespace firesteel::app {

MetricHistory::MetricHistory(QString key, QString name, QString unit, int decimals, QObject *parent)
    : QObject(parent)
    , m_key(std::move(key))
    , m_name(std::move(name))
    , m_unit(std::move(unit))
    , m_decimals(decimals)
    , m_wordsWithoutValue(tr("not available"))
{
}

void MetricHistory::add(Point point)
{
    if (m_points.size() < kCapacity) {
        m_points.push_back(point);
    } else {
        m_points[m_first] = point;
        m_first = (m_first + 1) % kCapacity;
    }
    Q_EMIT changed();
}

void MetricHistory::clear()
{
    m_points.clear();
    m_first = 0;
    Q_EMIT changed();
}

MetricHistory::Point MetricHistory::at(std::size_t index) const
{
    return m_points[(m_first + index) % m_points.size()];
}

std::optional<double> MetricHistory::newest() const
{
    return m_points.empty() ? std::nullopt : at(m_points.size() - 1).value;
}

qint64 MetricHistory::newestTime() const
{
    return m_points.empty() ? 0 : at(m_points.size() - 1).time;
}

double MetricHistory::peak() const
{
    double peak = 0;
    const qint64 oldest = newestTime() - kPlotMilliseconds;
    for (const Point &point : m_points) {
        if (point.value && point.time >= oldest)
            peak = std::max(peak, *point.value);
    }
    return peak;
}

QString MetricHistory::number() const
{
    constexpr double kLarge = 100; // from here on nobody reads the decimals
    return QLocale().toString(value(), 'f', value() >= kLarge ? 0 : m_decimals);
}

QString MetricHistory::text() const
{
    if (!isKnown())
        return m_points.empty() ? QString() : m_wordsWithoutValue;
    //: A figure and its unit.
    return tr("%1 %2").arg(number(), m_unit);
}

} // namespace firesteel::app
