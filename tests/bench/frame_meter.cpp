// SPDX-License-Identifier: MIT
#include "tests/bench/frame_meter.h"

#include <QAbstractEventDispatcher>
#include <QFile>
#include <QThread>

#include <algorithm>
#include <ctime>
#include <unistd.h>
#include <utility>

namespace firesteel::bench {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kBytesPerToken = 4;

// A thread's own time: other programs of a busy machine do not show in it.
double threadMilliseconds()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double wallMilliseconds()
{
    timespec now {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

} // namespace

FrameMeter::FrameMeter(QQuickWindow &window)
{
    mark();
    auto *dispatcher = QAbstractEventDispatcher::instance();
    connect(dispatcher, &QAbstractEventDispatcher::awake, this, [this] { mark(); });
    connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this,
            [this] { add(m_frame.busy, m_frame.wall); });
    connect(&window, &QQuickWindow::afterAnimating, this, [this] {
        add(m_frame.busy, m_frame.wall);
        m_frames.push_back(std::exchange(m_frame, {}));
    });
    // With a render thread these come from there, and nothing is taken off.
    connect(
        &window, &QQuickWindow::beforeRendering, this, [this] { paintBegins(); },
        Qt::DirectConnection);
    connect(
        &window, &QQuickWindow::frameSwapped, this, [this] { paintEnds(); }, Qt::DirectConnection);
}

bool FrameMeter::isHere() const { return QThread::currentThread() == thread(); }

void FrameMeter::mark()
{
    m_cpuMark = threadMilliseconds();
    m_wallMark = wallMilliseconds();
}

void FrameMeter::add(double &cpu, double &wall)
{
    cpu += threadMilliseconds() - m_cpuMark;
    wall += wallMilliseconds() - m_wallMark;
    mark();
}

void FrameMeter::paintBegins()
{
    if (isHere())
        add(m_frame.busy, m_frame.wall);
}

void FrameMeter::paintEnds()
{
    double unused = 0;
    if (isHere())
        add(m_frame.paint, unused);
}

QJsonObject summaryOf(const std::vector<Frame> &frames, double Frame::*field)
{
    std::vector<double> values;
    for (const Frame &frame : frames)
        values.push_back(frame.*field);
    std::ranges::sort(values);
    const auto at = [&](double share) {
        if (values.empty())
            return 0.0;
        return values[std::min(
            values.size() - 1,
            static_cast<std::size_t>(share * static_cast<double>(values.size())))];
    };
    return { { u"median"_s, at(0.5) },
             { u"p90"_s, at(0.9) },
             { u"p99"_s, at(0.99) },
             { u"max"_s, at(1.0) } };
}

double residentMebibytes()
{
    QFile file(u"/proc/self/statm"_s);
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QList<QByteArray> fields = file.readAll().split(' ');
    return fields.size() > 1
        ? fields[1].toDouble() * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20)
        : 0;
}

std::string answerText(int tokens, int seed)
{
    std::string text = "## Part " + std::to_string(seed) + "\n\n";
    const auto wanted = static_cast<std::size_t>(tokens) * kBytesPerToken;
    for (int part = 0; text.size() < wanted; ++part) {
        const std::string id = std::to_string(seed) + "." + std::to_string(part);
        for (int sentence = 0; sentence < 6; ++sentence)
            text += "A hash map of *part " + id + "* keeps its **entries** in buckets, and `find("
                + id + ")` looks into one. ";
        text += "\n\n1. The first step of " + id
            + " takes a key.\n2. The second [hashes](https://example.org/" + id
            + ") it.\n   - A detail that is nested.\n3. The third compares.\n\n| operation | cost "
              "| note |\n|---|---:|:--|\n";
        for (int row = 0; row < 5; ++row)
            text += "| insert " + std::to_string(row) + " | O(1) | amortised, `" + id + "` |\n";
        text += part % 2 == 0 ? "\n```python\n" : "\n```cpp\n";
        for (int line = 0; line < 14; ++line) {
            text += part % 2 == 0 ? "def step_" + std::to_string(line) + "(key, table):  # " + id
                    + "\n    return table[hash(key) % len(table)]\n"
                                  : "int step" + std::to_string(line)
                    + "(const Key &key) { return table[key.hash() % size]; } // " + id + "\n";
        }
        text += "```\n\n> A remark on " + id + ": measure before you believe.\n\n";
    }
    text.resize(wanted);
    return text;
}

} // namespace firesteel::bench
