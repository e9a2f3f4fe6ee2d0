// SPDX-License-Identifier: MIT
//
// Runs the tst_*.qml beside it.
#include "qml/window.h"
#include "tests/qml/fixture.h"

#include <QQmlEngine>
#include <QtQuickTest/quicktest.h>

namespace {

class Setup : public QObject
{
    Q_OBJECT

public:
    Setup() { firesteel::app::setUpProcess(); }

public Q_SLOTS:
    void applicationAvailable() { firesteel::app::setUpLook(); }
    void qmlEngineAvailable(QQmlEngine *)
    {
        qmlRegisterSingletonInstance("Firesteel.Test", 1, 0, "Fixture", &m_fixture);
    }
    // Before the QCoreApplication ends: an application joins its threads through it.
    void cleanupTestCase() { m_fixture.close(); }

private:
    firesteel::test::Fixture m_fixture;
};

} // namespace

QUICK_TEST_MAIN_WITH_SETUP(qml, Setup)

#include "tst_qml.moc"
