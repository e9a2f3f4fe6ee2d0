// SPDX-License-Identifier: MIT
#include "app/focus_keeper.h"

#include <QEvent>
#include <QLineF>
#include <QQuickWindow>
#include <QVariant>

#include <limits>
#include <ranges>

namespace firesteel::app {

namespace {

QPointF middleOf(const QQuickItem &item)
{
    return item.mapToScene(QPointF(item.width() / 2, item.height() / 2));
}

// The item itself, or the list whose row it is; null: neither.
QQuickItem *controlOf(QQuickItem *item)
{
    while (item != nullptr && !item->activeFocusOnTab())
        item = item->parentItem();
    return item;
}

} // namespace

FocusKeeper::FocusKeeper(QQuickItem *parent)
    : QQuickItem(parent)
{
}

void FocusKeeper::itemChange(ItemChange change, const ItemChangeData &value)
{
    if (change == ItemSceneChange && value.window != nullptr) {
        connect(value.window, &QQuickWindow::activeFocusItemChanged, this,
                &FocusKeeper::onFocusChanged, Qt::UniqueConnection);
        value.window->installEventFilter(this);
    }
    QQuickItem::itemChange(change, value);
}

void FocusKeeper::onFocusChanged()
{
    if (window() == nullptr)
        return;
    QQuickItem *item = controlOf(window()->activeFocusItem());
    if (item != nullptr)
        watch(item);
    else
        checkLater();
}

// A destroyed control cannot be asked where it was.
bool FocusKeeper::eventFilter(QObject * /*object*/, QEvent *event)
{
    if (event->type() == QEvent::KeyPress || event->type() == QEvent::MouseButtonRelease)
        notePlace();
    return false;
}

void FocusKeeper::notePlace()
{
    if (isAtHome(m_control))
        m_place = middleOf(*m_control);
}

void FocusKeeper::watch(QQuickItem *control)
{
    if (m_control)
        m_control->disconnect(this);
    m_control = control;
    m_isWatching = true;
    notePlace();
    const auto reason = static_cast<Qt::FocusReason>(control->property("focusReason").toInt());
    m_isByKeyboard = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason
        || reason == Qt::ShortcutFocusReason;
    m_around.clear();
    for (QQuickItem *item = control->parentItem(); item != nullptr; item = item->parentItem())
        m_around << item;
    connect(control, &QQuickItem::visibleChanged, this, &FocusKeeper::onChanged);
    connect(control, &QQuickItem::enabledChanged, this, &FocusKeeper::onChanged);
    connect(control, &QQuickItem::windowChanged, this, &FocusKeeper::checkLater);
    connect(control, &QObject::destroyed, this, &FocusKeeper::checkLater);
}

// What lies around it moves only when the event is over.
void FocusKeeper::onChanged()
{
    // One that is taken out of the window has lost its place already.
    if (m_control && window() != nullptr && window()->contentItem()->isAncestorOf(m_control))
        m_place = middleOf(*m_control);
    checkLater();
}

void FocusKeeper::checkLater()
{
    if (m_isChecking || !m_isWatching)
        return;
    m_isChecking = true;
    QMetaObject::invokeMethod(this, &FocusKeeper::check, Qt::QueuedConnection);
}

bool FocusKeeper::isAtHome(const QQuickItem *item) const
{
    return item != nullptr && item->window() == window() && item->isVisible() && item->isEnabled();
}

void FocusKeeper::check()
{
    m_isChecking = false;
    if (window() == nullptr || !m_isWatching || isAtHome(m_control))
        return;
    if (isElsewhere(window()->activeFocusItem()))
        m_isWatching = false; // until a control has it
    else if (QQuickItem *place = newPlace(); place != nullptr)
        place->forceActiveFocus(m_isByKeyboard ? Qt::TabFocusReason : Qt::OtherFocusReason);
}

// When a control goes, the keyboard falls to a scope around it, or to a row of a list around it.
bool FocusKeeper::isElsewhere(QQuickItem *item) const
{
    if (!isAtHome(item) || item == window()->contentItem() || m_around.contains(item))
        return false;
    return item->isFocusScope() || controlOf(item) != nullptr;
}

QQuickItem *FocusKeeper::newPlace() const
{
    for (const QPointer<QQuickItem> &part : m_around) {
        if (!part)
            continue;
        auto *named = part->property("focusHome").value<QQuickItem *>();
        if (isAtHome(named))
            return named;
    }
    // Layouts place what is in them, lists make the rows that follow one that went.
    for (const QPointer<QQuickItem> &part : std::ranges::reverse_view(m_around)) {
        if (part)
            part->ensurePolished();
    }
    for (const QPointer<QQuickItem> &part : m_around) {
        if (!isAtHome(part))
            continue;
        if (QQuickItem *nearest = nearestIn(part); nearest != nullptr)
            return nearest;
    }
    return isAtHome(m_home) ? m_home.get() : nullptr;
}

QQuickItem *FocusKeeper::nearestIn(QQuickItem *part) const
{
    part->ensurePolished();
    QQuickItem *nearest = nullptr;
    double least = std::numeric_limits<double>::max();
    const auto consider = [&](QQuickItem *item) {
        const double distance = QLineF(m_place, middleOf(*item)).length();
        if (distance < least) {
            least = distance;
            nearest = item;
        }
    };
    for (QQuickItem *child : part->childItems()) {
        if (!isAtHome(child))
            continue;
        if (child->activeFocusOnTab())
            consider(child);
        if (QQuickItem *inside = nearestIn(child); inside != nullptr)
            consider(inside);
    }
    return nearest;
}

} // namespace firesteel::app
