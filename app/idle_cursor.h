// SPDX-License-Identifier: MIT
//
// Lets the text cursor stand still when nobody has typed or clicked for a while: each blink draws
// the window again, which is most of what an idle window costs. Made by main().
#pragma once

#include <QGuiApplication>
#include <QObject>
#include <QTimer>

#include <chrono>

namespace firesteel::app {

class IdleCursor : public QObject
{
    Q_OBJECT

public:
    static constexpr std::chrono::seconds kRestAfter { 10 };

    explicit IdleCursor(QGuiApplication &application,
                        std::chrono::milliseconds restAfter = kRestAfter);
    ~IdleCursor() override; // it blinks again

    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void rest();
    void blink();

    int m_flashTime = 0; // milliseconds, while it rests: what it was before
    bool m_isResting = false;
    QTimer m_timer;
};

} // namespace firesteel::app
