// SPDX-License-Identifier: MIT
//
// Reads the text that servers give at /metrics (Prometheus text exposition format 0.0.4): for each
// name the sum and the mean over its labels. A line that is no sample is left out, as Prometheus'
// own comments are. Knows no server's names.
#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QHash>

#include <optional>

namespace firesteel::app {

class PrometheusText
{
public:
    explicit PrometheusText(QByteArrayView text);

    bool isEmpty() const { return m_samples.isEmpty(); } // no sample at all
    bool hasPrefix(QByteArrayView prefix) const; // of some name
    // Over all samples of the name that are finite; nothing without one.
    std::optional<double> sum(const QByteArray &name) const;
    std::optional<double> mean(const QByteArray &name) const;

private:
    struct Samples
    {
        double sum = 0;
        int count = 0;
    };

    void addLine(QByteArrayView line);

    QHash<QByteArray, Samples> m_samples;
};

} // namespace firesteel::app
