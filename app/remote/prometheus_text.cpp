// SPDX-License-Identifier: MIT
#include "app/remote/prometheus_text.h"

#include <algorithm>
#include <cmath>

namespace firesteel::app {

namespace {

bool isSpace(char c) { return c == ' ' || c == '\t'; }

// The index behind the closing brace of labels that open at `at`; -1 where they do not close.
// Values are quoted, with backslash escapes, and may hold braces and blanks.
qsizetype endOfLabels(QByteArrayView line, qsizetype at)
{
    bool isQuoted = false;
    for (++at; at < line.size(); ++at) {
        const char c = line[at];
        if (isQuoted && c == '\\')
            ++at;
        else if (c == '"')
            isQuoted = !isQuoted;
        else if (c == '}' && !isQuoted)
            return at + 1;
    }
    return -1;
}

} // namespace

PrometheusText::PrometheusText(QByteArrayView text)
{
    while (!text.isEmpty()) {
        const qsizetype end = text.indexOf('\n');
        addLine((end < 0 ? text : text.first(end)).trimmed());
        text = end < 0 ? QByteArrayView() : text.sliced(end + 1);
    }
}

void PrometheusText::addLine(QByteArrayView line)
{
    if (line.isEmpty() || line.front() == '#')
        return;
    qsizetype at = 0;
    while (at < line.size() && line[at] != '{' && !isSpace(line[at]))
        ++at;
    const QByteArrayView name = line.first(at);
    if (at < line.size() && line[at] == '{')
        at = endOfLabels(line, at);
    if (name.isEmpty() || at < 0)
        return;
    const QByteArrayView rest = line.sliced(at).trimmed(); // value, then perhaps a time
    const auto end = std::ranges::find_if(rest, isSpace);
    bool isNumber = false;
    const double value = rest.first(end - rest.begin()).toDouble(&isNumber);
    if (!isNumber || !std::isfinite(value))
        return;
    Samples &samples = m_samples[name.toByteArray()];
    samples.sum += value;
    ++samples.count;
}

bool PrometheusText::hasPrefix(QByteArrayView prefix) const
{
    return std::any_of(m_samples.keyBegin(), m_samples.keyEnd(),
                       [prefix](const QByteArray &name) { return name.startsWith(prefix); });
}

std::optional<double> PrometheusText::sum(const QByteArray &name) const
{
    const auto found = m_samples.constFind(name);
    return found == m_samples.constEnd() ? std::nullopt : std::optional(found->sum);
}

std::optional<double> PrometheusText::mean(const QByteArray &name) const
{
    const auto found = m_samples.constFind(name);
    return found == m_samples.constEnd() ? std::nullopt : std::optional(found->sum / found->count);
}

} // namespace firesteel::app
