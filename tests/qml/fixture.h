// SPDX-License-Identifier: MIT
//
// What QML tests reach as Firesteel.Test's Fixture: a whole application on a scripted engine, and
// the things Qt Quick Test cannot do: play an input method, read the clipboard.
#pragma once

#include "app/application.h"
#include "tests/support/fake_engine.h"

#include <QObject>
#include <QQuickItem>
#include <QTemporaryDir>
#include <QWindow>

#include <memory>

namespace firesteel::test {

class Fixture : public QObject
{
    Q_OBJECT

public:
    Fixture();
    ~Fixture() override;

    // A fresh application, not started; the one before is destroyed.
    Q_INVOKABLE firesteel::app::Application *makeApplication();
    Q_INVOKABLE void start(); // looks for the model and loads it
    Q_INVOKABLE void hideModel();
    Q_INVOKABLE void failLoad(const QString &message); // empty: not any more
    Q_INVOKABLE void slowLoad(int milliseconds);
    Q_INVOKABLE void holdTokens();
    Q_INVOKABLE void allowTokens(int count);
    Q_INVOKABLE void releaseTokens();

    Q_INVOKABLE void compose(QQuickItem *item, const QString &preedit);
    Q_INVOKABLE void commit(QQuickItem *item, const QString &text);
    Q_INVOKABLE QString clipboardText() const;
    // To a window of the test's own; TestCase.keyClick only knows the runner's.
    Q_INVOKABLE void keyClick(QWindow *window, int key, int modifiers);

private:
    QTemporaryDir m_folder;
    FakeScript m_script;
    FakeEngine *m_engine = nullptr; // the application's
    bool m_isModelHidden = false;
    std::unique_ptr<app::Application> m_application;
};

} // namespace firesteel::test
