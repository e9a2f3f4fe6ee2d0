// SPDX-License-Identifier: MIT
//
// Finds the keyboard a new place when the control that had it is gone: hidden, disabled or
// destroyed, often by its own click. In this order: the `focusHome` of the nearest item around it
// that names one, the nearest control in the smallest part of the window that is still there,
// `home`. Where somebody gave the keyboard another place meanwhile, it stays there. One in each
// window.
#pragma once

#include <QList>
#include <QPointF>
#include <QPointer>
#include <QQuickItem>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class FocusKeeper : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQuickItem *home MEMBER m_home NOTIFY homeChanged FINAL)

public:
    explicit FocusKeeper(QQuickItem *parent = nullptr);

Q_SIGNALS:
    void homeChanged();

protected:
    void itemChange(ItemChange change, const ItemChangeData &value) override;
    bool eventFilter(QObject *object, QEvent *event) override; // of the window

private:
    void onFocusChanged();
    void watch(QQuickItem *control);
    void notePlace();
    void onChanged(); // of what the control is
    void checkLater(); // once the event that took the control is over
    void check();
    bool isElsewhere(QQuickItem *item) const; // put there by somebody
    bool isAtHome(const QQuickItem *item) const; // in this window, to be seen and enabled
    QQuickItem *newPlace() const; // null: none
    QQuickItem *nearestIn(QQuickItem *part) const;

    QPointer<QQuickItem> m_home;
    QPointer<QQuickItem> m_control; // that had the keyboard last
    QList<QPointer<QQuickItem>> m_around; // it, the nearest first
    QPointF m_place; // its middle, in the window, at the last key or click
    bool m_isWatching = false;
    bool m_isByKeyboard = false;
    bool m_isChecking = false;
};

} // namespace firesteel::app
