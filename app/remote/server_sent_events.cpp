// SPDX-License-Identifier: MIT
#include "app/remote/server_sent_events.h"

#include <utility>

namespace firesteel::app {

std::vector<QByteArray> ServerSentEvents::add(QByteArrayView bytes)
{
    std::vector<QByteArray> events;
    qsizetype at = 0;
    while (at < bytes.size() && !m_isTooLong) {
        if (std::exchange(m_wasReturn, false) && bytes[at] == '\n') {
            ++at;
            continue;
        }
        qsizetype end = at;
        while (end < bytes.size() && bytes[end] != '\n' && bytes[end] != '\r')
            ++end;
        m_line.append(bytes.sliced(at, end - at));
        m_isTooLong = m_line.size() + m_data.size() > kLongestEvent;
        if (end < bytes.size()) {
            m_wasReturn = bytes[end] == '\r';
            endLine(events);
        }
        at = end + 1;
    }
    return events;
}

void ServerSentEvents::endLine(std::vector<QByteArray> &events)
{
    QByteArray line = std::exchange(m_line, {});
    if (std::exchange(m_isFirstLine, false) && line.startsWith("\xEF\xBB\xBF"))
        line.remove(0, 3); // a byte order mark
    if (line.isEmpty()) {
        if (std::exchange(m_hasData, false))
            events.push_back(std::exchange(m_data, {}));
        return;
    }
    const qsizetype colon = line.indexOf(':');
    if ((colon < 0 ? line : line.first(colon)) != "data")
        return; // a comment, which begins with the colon, or a field of no interest
    QByteArrayView value;
    if (colon >= 0)
        value = QByteArrayView(line).sliced(colon + 1);
    if (value.startsWith(' '))
        value = value.sliced(1);
    if (std::exchange(m_hasData, true))
        m_data += '\n';
    m_data += value;
}

} // namespace firesteel::app
