// SPDX-License-Identifier: MIT
//
// The program as a person starts it: twice, after a crash, without a window. Folders of its own.
#include "app/about/third_party.h"

#include <QDir>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatience = 60'000; // milliseconds, on a busy machine

} // namespace

class TestProcess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aSecondStartRaisesTheFirst();
    void aHeadlessRunIsOnItsOwn();
    void afterACrashNoModelIsLoaded();
    void everyLinkedLibraryHasItsLicence();

private:
    void start(QProcess &process, const QStringList &arguments = {});
    QString dataFile(const QString &name) const
    {
        return m_folder.filePath("data/firesteel/"_L1 + name);
    }
    bool waitForFile(const QString &file) const
    {
        return QTest::qWaitFor([&file] { return QFile::exists(file); }, kPatience);
    }
    QByteArray log() const
    {
        QFile file(dataFile(u"logs/firesteel.log"_s));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir m_folder;
};

void TestProcess::initTestCase()
{
    QVERIFY(QDir(m_folder.path()).mkpath(u"run"_s));
    QVERIFY(QFile::setPermissions(m_folder.filePath(u"run"_s),
                                  QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
}

void TestProcess::start(QProcess &process, const QStringList &arguments)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(u"QT_QPA_PLATFORM"_s, u"offscreen"_s);
    environment.insert(u"QT_QUICK_BACKEND"_s, u"software"_s);
    environment.insert(u"XDG_RUNTIME_DIR"_s, m_folder.filePath(u"run"_s));
    environment.insert(u"XDG_DATA_HOME"_s, m_folder.filePath(u"data"_s));
    environment.insert(u"XDG_CONFIG_HOME"_s, m_folder.filePath(u"config"_s));
    environment.insert(u"XDG_CACHE_HOME"_s, m_folder.filePath(u"cache"_s));
    environment.insert(u"HOME"_s, m_folder.path());
    environment.insert(u"HF_ENDPOINT"_s, u"http://127.0.0.1:9"_s); // nobody answers
    environment.insert(u"FIRESTEEL_MODEL"_s, u"/nowhere"_s);
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(FIRESTEEL_PROGRAM), arguments);
    QVERIFY2(process.waitForStarted(kPatience), qPrintable(process.errorString()));
}

void TestProcess::aSecondStartRaisesTheFirst()
{
    QProcess first;
    start(first);
    QVERIFY(waitForFile(dataFile(u"firesteel.db"_s))); // the window is up, events run
    QProcess second;
    start(second);
    QVERIFY(second.waitForFinished(kPatience));
    QCOMPARE(second.exitCode(), 0);
    QVERIFY(second.readAllStandardError().contains("its window was raised"));
    QCOMPARE(first.state(), QProcess::Running);
    first.terminate();
    QVERIFY(first.waitForFinished(kPatience));
    QCOMPARE(first.exitCode(), 0);
    QVERIFY(!QFile::exists(dataFile(u"running"_s)));
}

void TestProcess::aHeadlessRunIsOnItsOwn()
{
    QProcess window;
    start(window);
    QVERIFY(waitForFile(dataFile(u"running"_s)));
    QProcess headless;
    start(headless, { u"--download"_s, u"nobody/nothing@main"_s });
    QVERIFY(headless.waitForFinished(kPatience));
    QVERIFY(headless.exitCode() != 0); // there is no such model
    QVERIFY(!headless.readAllStandardError().contains("raised"));
    QCOMPARE(window.state(), QProcess::Running);
    window.terminate();
    QVERIFY(window.waitForFinished(kPatience));
}

void TestProcess::afterACrashNoModelIsLoaded()
{
    QProcess crashing;
    start(crashing);
    QVERIFY(waitForFile(dataFile(u"running"_s)));
    QVERIFY(!log().contains("did not end properly"));
    ::kill(static_cast<pid_t>(crashing.processId()), SIGKILL);
    QVERIFY(crashing.waitForFinished(kPatience));
    QProcess next;
    start(next);
    QVERIFY(QTest::qWaitFor([this] { return log().contains("did not end properly"); }, kPatience));
    next.terminate();
    QVERIFY(next.waitForFinished(kPatience));
    QVERIFY(!QFile::exists(dataFile(u"running"_s)));
}

void TestProcess::everyLinkedLibraryHasItsLicence()
{
    QProcess readelf;
    readelf.start(u"readelf"_s, { u"-d"_s, QStringLiteral(FIRESTEEL_PROGRAM) });
    QVERIFY(readelf.waitForFinished(kPatience));
    static const QRegularExpression needed(u"\\(NEEDED\\).*\\[(.*)\\]"_s);
    const QList<ThirdParty> parties = readThirdParties();
    int libraries = 0;
    auto found = needed.globalMatch(QString::fromUtf8(readelf.readAllStandardOutput()));
    while (found.hasNext()) {
        const QString library = found.next().captured(1);
        ++libraries;
        const bool isNamed = std::ranges::any_of(parties, [&library](const ThirdParty &party) {
            return std::ranges::any_of(party.libraries, [&library](const QString &pattern) {
                return QRegularExpression::fromWildcard(pattern).match(library).hasMatch();
            });
        });
        QVERIFY2(isNamed,
                 qPrintable(library + u" is not in resources/licenses/third-party.json"_s));
    }
    QVERIFY(libraries > 5);
    for (const ThirdParty &party : parties) {
        QVERIFY(!party.name.isEmpty() && !party.use.isEmpty() && !party.license.isEmpty());
        QVERIFY2(!party.licenseText().trimmed().isEmpty(), qPrintable(party.name));
    }
}

QTEST_GUILESS_MAIN(TestProcess)

#include "tst_process.moc"
