// SPDX-License-Identifier: MIT
#include "app/idle_cursor.h"

#include <QEvent>
#include <QStyleHints>

#include <utility>

namespace firesteel::app {

IdleCursor::IdleCursor(QGuiApplication &application, std::chrono::milliseconds restAfter)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(restAfter);
    connect(&m_timer, &QTimer::timeout, this, &IdleCursor::rest);
    application.installEventFilter(this);
    m_timer.start();
}

IdleCursor::~IdleCursor() { blink(); }

bool IdleCursor::eventFilter(QObject * /*object*/, QEvent *event)
{
    switch (event->type()) {
    case QEvent::KeyPress:
    case QEvent::InputMethod:
    case QEvent::MouseButtonPress:
    case QEvent::TouchBegin:
    case QEvent::FocusIn:
        blink();
        m_timer.start();
        break;
    default:
        break;
    }
    return false;
}

void IdleCursor::rest()
{
    m_isResting = true;
    m_flashTime = QGuiApplication::styleHints()->cursorFlashTime();
    QGuiApplication::styleHints()->setCursorFlashTime(0);
}

void IdleCursor::blink()
{
    if (std::exchange(m_isResting, false))
        QGuiApplication::styleHints()->setCursorFlashTime(m_flashTime);
}

} // namespace firesteel::app
