// SPDX-License-Identifier: MIT
#include "tests/qml/fixture.h"

#include "tests/app/setup/machine_files.h"
#include "tests/qml/sample_models.h"
#include "tests/support/offline_script.h"

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QJSEngine>
#include <QTcpServer>
#include <QTest>

#include <utility>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;

Fixture::Fixture() = default;
Fixture::~Fixture() = default;

void Fixture::close() { m_application.reset(); }

app::Application *Fixture::makeApplication()
{
    m_application.reset();
    ++m_applications;
    return makeOnDatabase();
}

app::Application *Fixture::restartApplication()
{
    m_application.reset();
    return makeOnDatabase();
}

app::Application *Fixture::makeApplicationAfterCrash()
{
    m_application.reset();
    ++m_applications;
    return makeOnDatabase(true);
}

void Fixture::occupyDatabase()
{
    m_application.reset();
    ++m_applications;
    if (!m_occupied.acquire(databaseFile() + u".lock"_s))
        qFatal("the database is in use");
    --m_applications;
}

QString Fixture::databaseFile() const { return m_folder.filePath(u"%1.db"_s.arg(m_applications)); }

QUrl Fixture::fileUrl(const QString &name) const
{
    return QUrl::fromLocalFile(m_folder.filePath(name));
}

app::Application *Fixture::makeOnDatabase(bool isAfterCrash)
{
    const QString settings = m_folder.filePath(u"firesteel.ini"_s);
    QFile::remove(settings);
    m_isModelHidden = false;
    m_script = offlineScript(0);
    auto engine = std::make_unique<FakeEngine>(m_script);
    m_engine = engine.get();
    app::ApplicationSetup setup;
    setup.settingsFile = settings;
    setup.databaseFile = databaseFile();
    setup.procFolder = m_folder.filePath(u"proc"_s);
    setup.isAfterCrash = isAfterCrash;
    setup.machine.nvmlLibrary = QStringLiteral(FIRESTEEL_FAKE_NVML);
    setup.models.downloads.hub.endpoint = QUrl(u"http://127.0.0.1:9"_s); // nobody answers
    setup.engine.findModel = [this] {
        return m_isModelHidden ? app::ModelLocation { {}, { u"/nowhere"_s } }
                               : app::ModelLocation { "/", {} };
    };
    m_application = std::make_unique<app::Application>(std::move(engine), std::move(setup));
    m_application->settings()->setReducedMotion(true);
    if (!std::exchange(m_isFirstStart, false))
        m_application->settings()->setSetupState(app::AppSettings::SetupState::Finished);
    QJSEngine::setObjectOwnership(m_application.get(), QJSEngine::CppOwnership);
    return m_application.get();
}

int Fixture::freePort() const
{
    QTcpServer server;
    if (!server.listen(QHostAddress::LocalHost))
        qFatal("no port is free");
    return server.serverPort();
}

void Fixture::start() { m_application->start(); }

app::Application *Fixture::firstStart(const QString &machine)
{
    test::writeMachine(m_folder.filePath(u"proc"_s), machine);
    m_isFirstStart = true;
    return makeApplication();
}

void Fixture::hideModel() { m_isModelHidden = true; }

void Fixture::failLoad(const QString &message)
{
    m_script.loadError.reset();
    if (!message.isEmpty())
        m_script.loadError
            = engine::Error { engine::ErrorCode::BadCheckpoint, message.toStdString() };
    m_engine->setScript(m_script);
}

void Fixture::slowLoad(int milliseconds)
{
    m_script.loadStageTime = std::chrono::milliseconds(milliseconds);
    m_engine->setScript(m_script);
}

void Fixture::slowPrefill(int milliseconds)
{
    m_script.prefillTime = std::chrono::milliseconds(milliseconds);
    m_engine->setScript(m_script);
}

void Fixture::showModels(const QStringList &states)
{
    test::showModels(*m_application->models(), states);
}

void Fixture::answerTerms(int row) { test::answerTerms(*m_application->models(), row); }

void Fixture::answerTermsOfAnotherLicense(int row)
{
    test::answerTerms(*m_application->models(), row, false);
}

void Fixture::holdTokens() { m_engine->holdTokens(); }
void Fixture::allowTokens(int count) { m_engine->allowTokens(count); }
void Fixture::draft(int guesses, int right)
{
    engine::DraftCounts counts;
    counts.addStep(guesses, right);
    m_engine->draft(counts, guesses);
}
void Fixture::releaseTokens() { m_engine->releaseTokens(); }

void Fixture::compose(QQuickItem *item, const QString &preedit)
{
    QInputMethodEvent event(preedit, {});
    QCoreApplication::sendEvent(item, &event);
}

void Fixture::commit(QQuickItem *item, const QString &text)
{
    QInputMethodEvent event;
    event.setCommitString(text);
    QCoreApplication::sendEvent(item, &event);
}

void Fixture::keyClick(QWindow *window, int key, int modifiers)
{
    QTest::keyClick(window, static_cast<Qt::Key>(key), Qt::KeyboardModifiers::fromInt(modifiers));
}

void Fixture::setClipboardText(const QString &text) { QGuiApplication::clipboard()->setText(text); }

void Fixture::type(QWindow *window, const QString &text)
{
    for (const QChar character : text)
        QTest::sendKeyEvent(QTest::Click, window, Qt::Key_unknown, character, Qt::NoModifier);
}

QString Fixture::clipboardText() const { return QGuiApplication::clipboard()->text(); }

} // namespace firesteel::test
