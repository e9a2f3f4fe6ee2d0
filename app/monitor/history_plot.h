// SPDX-License-Identifier: MIT
//
// Draws the last two minutes of a MetricHistory: a filled line, broken where nothing was known.
// Painted, so that it looks the same on the hardware and the software renderer.
#pragma once

#include "app/monitor/metric_history.h"

#include <QColor>
#include <QPointer>
#include <QQuickPaintedItem>

namespace firesteel::app {

class HistoryPlot : public QQuickPaintedItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(firesteel::app::MetricHistory *history READ history WRITE setHistory NOTIFY
                   historyChanged FINAL)
    Q_PROPERTY(QColor color READ color WRITE setColor NOTIFY colorChanged FINAL)
    Q_PROPERTY(QColor baseColor READ baseColor WRITE setBaseColor NOTIFY baseColorChanged FINAL)

public:
    explicit HistoryPlot(QQuickItem *parent = nullptr);

    void paint(QPainter *painter) override;

    MetricHistory *history() const { return m_history; }
    void setHistory(MetricHistory *history);
    QColor color() const { return m_color; }
    void setColor(const QColor &color);
    QColor baseColor() const { return m_baseColor; }
    void setBaseColor(const QColor &color);

Q_SIGNALS:
    void historyChanged();
    void colorChanged();
    void baseColorChanged();

private:
    QPointer<MetricHistory> m_history;
    QColor m_color;
    QColor m_baseColor;
};

} // namespace firesteel::app
