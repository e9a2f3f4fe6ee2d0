// SPDX-License-Identifier: MIT
//
// What QML tests reach as Firesteel.Test's Fixture: a whole application on a scripted engine, and
// the things Qt Quick Test cannot do: play an input method, read the clipboard.
#pragma once

#include "app/application.h"
#include "app/store/file_lock.h"
#include "tests/support/fake_engine.h"

#include <QObject>
#include <QQuickItem>
#include <QTemporaryDir>
#include <QUrl>
#include <QWindow>

#include <memory>

namespace firesteel::test {

class Fixture : public QObject
{
    Q_OBJECT

public:
    Fixture();
    ~Fixture() override;

    void close(); // the application, before the process's event loop is gone

    // A fresh application, not started; the one before is destroyed.
    Q_INVOKABLE firesteel::app::Application *makeApplication();
    // As makeApplication(), but nobody has seen the first run yet, on a machine of machine_files.h.
    Q_INVOKABLE firesteel::app::Application *firstStart(const QString &machine);
    // The next one finds what the last one stored.
    Q_INVOKABLE firesteel::app::Application *restartApplication();
    // A fresh one that finds the mark of a run that did not end properly.
    Q_INVOKABLE firesteel::app::Application *makeApplicationAfterCrash();
    // As if another process had the conversations of the next fresh application open.
    Q_INVOKABLE void occupyDatabase();
    Q_INVOKABLE QUrl fileUrl(const QString &name) const; // in the folder of this run
    Q_INVOKABLE int freePort() const; // that nothing listens on now
    Q_INVOKABLE void start(); // looks for the model and loads it
    Q_INVOKABLE void hideModel();
    Q_INVOKABLE void failLoad(const QString &message); // empty: not any more
    Q_INVOKABLE void slowLoad(int milliseconds);
    Q_INVOKABLE void slowPrefill(int milliseconds);
    // See sample_models.h.
    Q_INVOKABLE void showModels(const QStringList &states);
    Q_INVOKABLE void answerTerms(int row);
    Q_INVOKABLE void answerTermsOfAnotherLicense(int row);
    Q_INVOKABLE void holdTokens();
    Q_INVOKABLE void allowTokens(int count);
    Q_INVOKABLE void releaseTokens();
    Q_INVOKABLE void draft(int guesses, int right); // a step of the model

    Q_INVOKABLE void compose(QQuickItem *item, const QString &preedit);
    Q_INVOKABLE void commit(QQuickItem *item, const QString &text);
    Q_INVOKABLE QString clipboardText() const;
    Q_INVOKABLE void setClipboardText(const QString &text);
    // To a window of the test's own; TestCase.keyClick only knows the runner's.
    Q_INVOKABLE void keyClick(QWindow *window, int key, int modifiers);
    Q_INVOKABLE void type(QWindow *window, const QString &text);

private:
    QTemporaryDir m_folder;
    FakeScript m_script;
    FakeEngine *m_engine = nullptr; // the application's
    bool m_isModelHidden = false;
    bool m_isFirstStart = false;
    int m_applications = 0; // each with a database of its own
    QString databaseFile() const;
    app::Application *makeOnDatabase(bool isAfterCrash = false);

    app::FileLock m_occupied;
    std::unique_ptr<app::Application> m_application;
};

} // namespace firesteel::test
