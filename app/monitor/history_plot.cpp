// SPDX-License-Identifier: MIT
#include "app/monitor/history_plot.h"

#include <QPainter>
#include <QPolygonF>

namespace firesteel::app {

namespace {

// Points further apart have nothing between them.
constexpr qint64 kGapMilliseconds = 3000;
constexpr double kHeadroom = 1.05;
constexpr int kFillAlpha = 48;

void drawRun(QPainter &painter, const QPolygonF &run, const QColor &color, double bottom)
{
    if (run.isEmpty())
        return;
    if (run.size() == 1) {
        painter.setPen(QPen(color, 2));
        painter.drawPoint(run.first());
        return;
    }
    QPolygonF area = run;
    area << QPointF(run.last().x(), bottom) << QPointF(run.first().x(), bottom);
    QColor fill = color;
    fill.setAlpha(kFillAlpha);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawPolygon(area);
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(run);
}

} // namespace

HistoryPlot::HistoryPlot(QQuickItem *parent)
    : QQuickPaintedItem(parent)
{
    setAntialiasing(true);
}

void HistoryPlot::setHistory(MetricHistory *history)
{
    if (history == m_history)
        return;
    if (m_history)
        disconnect(m_history, nullptr, this, nullptr);
    m_history = history;
    if (m_history)
        connect(m_history, &MetricHistory::changed, this, [this] { update(); });
    Q_EMIT historyChanged();
    update();
}

void HistoryPlot::setColor(const QColor &color)
{
    if (color == m_color)
        return;
    m_color = color;
    Q_EMIT colorChanged();
    update();
}

void HistoryPlot::setBaseColor(const QColor &color)
{
    if (color == m_baseColor)
        return;
    m_baseColor = color;
    Q_EMIT baseColorChanged();
    update();
}

void HistoryPlot::paint(QPainter *painter)
{
    const double bottom = height() - 1;
    painter->fillRect(QRectF(0, bottom, width(), 1), m_baseColor);
    if (!m_history || m_history->size() == 0)
        return;
    const qint64 end = m_history->newestTime();
    const qint64 begin = end - MetricHistory::kPlotMilliseconds;
    const double peak = m_history->peak();
    const double scale = peak > 0 ? (bottom - 1) / (peak * kHeadroom) : 0;
    QPolygonF run;
    qint64 last = 0;
    for (std::size_t i = 0; i < m_history->size(); ++i) {
        const MetricHistory::Point point = m_history->at(i);
        if (point.time < begin)
            continue;
        if (!point.value || point.time - last > kGapMilliseconds) {
            drawRun(*painter, run, m_color, bottom);
            run.clear();
        }
        if (point.value) {
            const double x = static_cast<double>(point.time - begin)
                / static_cast<double>(MetricHistory::kPlotMilliseconds) * width();
            run << QPointF(x, bottom - *point.value * scale);
        }
        last = point.time;
    }
    drawRun(*painter, run, m_color, bottom);
}

} // namespace firesteel::app
