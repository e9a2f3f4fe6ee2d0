// SPDX-License-Identifier: MIT
//
// A file that exists while the program runs and is left behind by a run that did not end properly:
// a crash, a kill, a power cut. Held by main() around everything else.
#pragma once

#include <QString>

namespace firesteel::app {

class SessionMarker
{
public:
    // Leaves its mark at once. Where the file cannot be written, nothing is known and nothing
    // fails.
    explicit SessionMarker(QString file);
    ~SessionMarker();
    SessionMarker(const SessionMarker &) = delete;
    SessionMarker &operator=(const SessionMarker &) = delete;

    bool wasLeftBehind() const { return m_wasLeftBehind; }

private:
    QString m_file;
    bool m_wasLeftBehind;
};

} // namespace firesteel::app
