// SPDX-License-Identifier: MIT
//
// One figure over the last minutes: a ring of values at known times, the newest in words. Owned by
// PerformanceMonitor; plots and lines of the panel show it.
#pragma once

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace firesteel::app {

class MetricHistory : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("PerformanceMonitor owns the histories")
    Q_PROPERTY(QString name READ name CONSTANT FINAL)
    Q_PROPERTY(QString unit READ unit CONSTANT FINAL)
    Q_PROPERTY(bool known READ isKnown NOTIFY changed FINAL)
    Q_PROPERTY(double value READ value NOTIFY changed FINAL)
    Q_PROPERTY(QString number READ number NOTIFY changed FINAL)
    Q_PROPERTY(QString text READ text NOTIFY changed FINAL)
    Q_PROPERTY(double peak READ peak NOTIFY changed FINAL)

public:
    static constexpr std::size_t kCapacity = 600; // ten minutes at 1 Hz

    struct Point
    {
        qint64 time = 0; // milliseconds, of one clock that never goes back
        std::optional<double> value; // none: it was not known then
    };

    MetricHistory(QString key, QString name, QString unit, int decimals, QObject *parent = nullptr);
    // Instead of "not available", the words for what nobody gives.
    void setWordsWithoutValue(const QString &words) { m_wordsWithoutValue = words; }

    void add(Point point);
    void clear();

    QString key() const { return m_key; } // of the CSV: "decode (tok/s)"
    QString name() const { return m_name; }
    QString unit() const { return m_unit; }
    bool isKnown() const { return newest().has_value(); }
    double value() const { return newest().value_or(0); } // the newest
    QString number() const; // of the newest, without its unit
    QString text() const; // with it, or the words without a value
    double peak() const; // of what a plot shows; 0 when nothing is known

    std::size_t size() const { return m_points.size(); }
    Point at(std::size_t index) const; // 0: the oldest
    qint64 newestTime() const; // 0 without points

    static constexpr qint64 kPlotMilliseconds = 120'000;

Q_SIGNALS:
    void changed();

private:
    std::optional<double> newest() const;

    QString m_key;
    QString m_name;
    QString m_unit;
    int m_decimals;
    QString m_wordsWithoutValue;
    std::vector<Point> m_points; // a ring once it is full
    std::size_t m_first = 0;
};

} // namespace firesteel::app
