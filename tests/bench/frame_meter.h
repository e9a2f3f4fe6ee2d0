// SPDX-License-Identifier: MIT
//
// What the benchmarks of the window share: the GUI thread's time by frame, the process's memory,
// and answers of any length.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QQuickWindow>

#include <string>
#include <vector>

namespace firesteel::bench {

struct Frame
{
    double busy = 0; // ms of GUI thread time: events, polish, sync
    double wall = 0; // the same by the clock
    double paint = 0; // ms of GUI thread time
};

// Cuts the GUI thread's time at every frame. Lives on that thread.
class FrameMeter : public QObject
{
public:
    explicit FrameMeter(QQuickWindow &window);

    void reset() { m_frames.clear(); }
    const std::vector<Frame> &frames() const { return m_frames; }

private:
    bool isHere() const;
    void mark();
    void add(double &cpu, double &wall);
    void paintBegins();
    void paintEnds();

    Frame m_frame;
    std::vector<Frame> m_frames;
    double m_cpuMark = 0;
    double m_wallMark = 0;
};

// median, p90, p99 and max.
QJsonObject summaryOf(const std::vector<Frame> &frames, double Frame::*field);

double residentMebibytes();

// Prose, lists, tables and code as answers mix them; every part differs, so nothing is shared by
// accident. Four bytes a token.
std::string answerText(int tokens, int seed);

} // namespace firesteel::bench
