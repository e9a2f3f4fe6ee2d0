// SPDX-License-Identifier: MIT
//
// Takes a stream of server-sent events apart as its bytes come, however they were split (WHATWG
// HTML, section "Server-sent events"). Only what the chat needs of an event is kept: its data.
// Knows nothing of JSON or of sockets.
#pragma once

#include <QByteArray>
#include <QByteArrayView>

#include <vector>

namespace firesteel::app {

class ServerSentEvents
{
public:
    static constexpr qsizetype kLongestEvent = 16 << 20; // bytes; nobody's answer comes near

    // The data of every event that is complete now, in order; several data lines are joined by a
    // line feed. An event without its blank line never happened.
    std::vector<QByteArray> add(QByteArrayView bytes);

    // An event grew beyond kLongestEvent. What comes after it is not read.
    bool isTooLong() const { return m_isTooLong; }

private:
    void endLine(std::vector<QByteArray> &events);

    QByteArray m_line; // that has not ended
    QByteArray m_data; // of the event that has not ended
    bool m_hasData = false;
    bool m_isFirstLine = true;
    bool m_wasReturn = false; // a line feed that follows belongs to it
    bool m_isTooLong = false;
};

} // namespace firesteel::app
