// SPDX-License-Identifier: MIT
//
// Walks through everything the window shows, page by page: whatever can have the keyboard has a
// name for assistive tools and is reached by Tab, and every text was given to a translator.
#include "app/application.h"
#include "qml/window.h"
#include "tests/qml/pseudo_translator.h"
#include "tests/qml/sample_endpoint.h"
#include "tests/qml/sample_models.h"
#include "tests/support/fake_engine.h"
#include "tests/support/offline_script.h"

#include <QAccessible>
#include <QFile>
#include <QMetaProperty>
#include <QQmlApplicationEngine>
#include <QQuickItem>
#include <QQuickWindow>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocumentFragment>

#include <algorithm>
#include <memory>
#include <set>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;

namespace {

// Visible, enabled, and not scrolled or folded out of existence.
bool isShown(const QQuickItem *item)
{
    return item->isVisible() && item->isEnabled() && item->width() > 0 && item->height() > 0;
}

void collect(QQuickItem *item, QList<QQuickItem *> &all)
{
    if (!item->isVisible())
        return;
    all << item;
    for (QQuickItem *child : item->childItems())
        collect(child, all);
}

QString describe(const QQuickItem *item)
{
    QString path;
    for (const QQuickItem *at = item; at != nullptr; at = at->parentItem()) {
        const QString name = at->objectName().isEmpty()
            ? QString::fromLatin1(at->metaObject()->className()).section(u"_QMLTYPE"_s, 0, 0)
            : at->objectName();
        path.prepend(u'/' + name);
    }
    return path;
}

QString nameOf(QQuickItem *item)
{
    QAccessibleInterface *interface = QAccessible::queryAccessibleInterface(item);
    return interface != nullptr ? interface->text(QAccessible::Name) : QString();
}

} // namespace

class WindowWalk : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void init();
    void cleanup();

    void everyControlHasANameAndIsReached_data() { pages(); }
    void everyControlHasANameAndIsReached();
    void everyTextIsTranslated_data() { pages(); }
    void everyTextIsTranslated();
    void untranslatedTextIsFound();

private:
    static void pages();
    void show(const QString &page);
    QList<QQuickItem *> shownItems() const;
    bool isData(const QString &text) const;

    QTemporaryDir m_folder;
    int m_count = 0;
    test::PseudoTranslator m_translator;
    QString m_data; // words that come from files and models, not from the program
    std::unique_ptr<app::Application> m_application;
    std::unique_ptr<QQmlApplicationEngine> m_qml;
    QQuickWindow *m_window = nullptr;
};

void WindowWalk::initTestCase()
{
    QAccessible::setActive(true);
    for (const auto *name :
         { ":/firesteel/catalog/models.json", ":/firesteel/licenses/third-party.json" }) {
        QFile file((QString::fromLatin1(name)));
        QVERIFY2(file.open(QIODevice::ReadOnly), name);
        m_data += QString::fromUtf8(file.readAll());
    }
    const auto answer = test::offlineScript(0).answer(
        { engine::Message::text(engine::Role::User, "How does a hash map work?") });
    m_data += QString::fromStdString(answer.text + answer.thinking);
    m_data += u" How does a hash map work? Glimmer Scripted Firesteel NVIDIA GB10 MIT Markdown "
              "Reading weights Allocating memory tok/s s W °C MHz GiB MiB KiB bytes B Escape Ctrl "
              "Shift"_s;
    QCoreApplication::installTranslator(&m_translator);
}

void WindowWalk::cleanupTestCase() { QCoreApplication::removeTranslator(&m_translator); }

void WindowWalk::init()
{
    app::ApplicationSetup setup;
    setup.settingsFile = m_folder.filePath(u"%1.ini"_s.arg(++m_count));
    setup.databaseFile = m_folder.filePath(u"%1.db"_s.arg(m_count));
    setup.machine.nvmlLibrary = QStringLiteral(FIRESTEEL_FAKE_NVML);
    setup.models.downloads.hub.endpoint = QUrl(u"http://127.0.0.1:9"_s); // nobody answers
    setup.engine.findModel = [] { return app::ModelLocation { "/", {} }; };
    m_application = std::make_unique<app::Application>(
        std::make_unique<test::FakeEngine>(test::offlineScript(0)), std::move(setup));
    m_application->settings()->setReducedMotion(true);
    m_application->settings()->setPanelFolded(false);
    m_qml = std::make_unique<QQmlApplicationEngine>();
    m_window = app::openWindow(*m_qml, *m_application);
    QVERIFY(m_window != nullptr);
    m_window->resize(1500, 1100);
    m_window->requestActivate();
    QVERIFY(QTest::qWaitForWindowActive(m_window));
    m_application->start();
    QTRY_COMPARE(m_application->engine()->state(), app::EngineController::State::Ready);
}

void WindowWalk::cleanup()
{
    m_window = nullptr;
    m_qml.reset();
    m_application.reset();
}

void WindowWalk::pages()
{
    QTest::addColumn<QString>("page");
    for (const auto *page :
         { "empty chat", "chat", "find", "search", "models", "about", "endpoint", "palette" })
        QTest::newRow(page) << QString::fromLatin1(page);
}

void WindowWalk::show(const QString &page)
{
    if (page == "chat"_L1 || page == "find"_L1) {
        m_application->conversation()->send(u"How does a hash map work?"_s);
        QTRY_VERIFY(!m_application->conversation()->isBusy());
        if (page == "find"_L1) {
            m_application->conversation()->find()->setShown(true);
            m_application->conversation()->find()->find(u"map"_s, 0);
            m_application->conversation()->pastes()->add(u"hash map"_s);
        }
    } else if (page == "search"_L1) {
        QVERIFY(QMetaObject::invokeMethod(m_window, "startSearch"));
        m_application->search()->setQuery(u"Glimmer Scripted"_s); // words of data; nothing is found
    } else if (page == "models"_L1 || page == "about"_L1 || page == "endpoint"_L1) {
        QVERIFY(QMetaObject::invokeMethod(m_window, "showPage", Q_ARG(QString, page)));
        if (page == "models"_L1)
            test::showModels(*m_application->models(), { u"downloading"_s, u"gated"_s });
        if (page == "endpoint"_L1)
            m_data += test::fillEndpoint(*m_application->endpoint());
    } else if (page == "palette"_L1) {
        auto *palette = m_window->findChild<QObject *>(u"actionPalette"_s);
        QVERIFY(palette != nullptr && QMetaObject::invokeMethod(palette, "open"));
    }
    QTRY_VERIFY(m_application->monitor()->memory().total > 0);
    m_data += m_application->about()->problemReport(); // for those who work on the program
    QTest::qWait(300);
}

QList<QQuickItem *> WindowWalk::shownItems() const
{
    QList<QQuickItem *> all;
    collect(m_window->contentItem(), all);
    return all;
}

void WindowWalk::everyControlHasANameAndIsReached()
{
    QFETCH(const QString, page);
    show(page);
    std::set<QQuickItem *> expected;
    for (QQuickItem *item : shownItems()) {
        if (!isShown(item) || !item->activeFocusOnTab())
            continue;
        QVERIFY2(!nameOf(item).isEmpty(), qPrintable(describe(item) + u" has no name"_s));
        expected.insert(item);
    }
    QVERIFY(expected.size() > (page == "palette"_L1 ? 0U : 8U));
    // Over a window that is dimmed only what lies above it counts.
    const auto *palette = m_window->findChild<QObject *>(u"actionPalette"_s);
    const bool isModal = palette->property("opened").toBool();
    // Round and round until nothing new comes.
    const std::size_t most = 4 * expected.size() + 20;
    std::set<QQuickItem *> reached;
    for (std::size_t i = 0; i < most; ++i) {
        QTest::keyClick(m_window, Qt::Key_Tab);
        QQuickItem *focused = m_window->activeFocusItem();
        QVERIFY2(focused != nullptr, "the keyboard is nowhere");
        // A control may hand the keyboard to a part of itself.
        for (QQuickItem *at = focused; at != nullptr; at = at->parentItem())
            reached.insert(at);
    }
    for (QQuickItem *item : expected) {
        const bool isBehind = isModal && !describe(item).contains(u"Overlay"_s);
        // A list's delegates come by its arrow keys.
        QVERIFY2(reached.contains(item) || isBehind || !isShown(item),
                 qPrintable(describe(item) + u" is not reached by Tab"_s));
    }
}

bool WindowWalk::isData(const QString &text) const
{
    static const QRegularExpression separators(u"[^\\p{L}°]+"_s);
    const QStringList words = text.split(separators, Qt::SkipEmptyParts);
    // A path, or words that are all in what the program only passes on.
    return text.contains(m_folder.path())
        || std::ranges::all_of(words,
                               [this](const QString &word) { return m_data.contains(word); });
}

void WindowWalk::everyTextIsTranslated()
{
    QFETCH(const QString, page);
    show(page);
    int texts = 0;
    for (QQuickItem *item : shownItems()) {
        for (const char *property : { "text", "placeholderText", "title" }) {
            const QVariant value = item->property(property);
            if (!value.isValid() || value.metaType() != QMetaType::fromType<QString>())
                continue;
            QString text = value.toString();
            if (text.startsWith(u'<')) // what the model wrote
                text = QTextDocumentFragment::fromHtml(text).toPlainText();
            const QString left = test::withoutTranslated(text);
            texts += left.size() < text.size() ? 1 : 0;
            QVERIFY2(isData(left),
                     qPrintable(describe(item) + u": \""_s + value.toString() + u'"'));
        }
        if (const QString name = test::withoutTranslated(nameOf(item)); !isData(name))
            QFAIL(qPrintable(describe(item) + u", for assistive tools: \""_s + name + u'"'));
    }
    QVERIFY2(texts > 10, qPrintable(QString::number(texts)));
}

// The walk can fail: a text that nobody translated is not taken for data.
void WindowWalk::untranslatedTextIsFound()
{
    QCOMPARE(test::withoutTranslated(u"a ⟦b ⟦c⟧ d⟧ e"_s), u"a  e"_s);
    QVERIFY(!isData(u"Preferences"_s));
    QVERIFY(isData(u"1,204"_s));
    QVERIFY(isData(QString()));
    const QString text = m_translator.translate("", "%n of %1 tokens", nullptr, 2);
    QVERIFY(text.contains(u"%n"_s) && text.contains(u"%1"_s));
    QVERIFY(test::withoutTranslated(text).isEmpty());
    QVERIFY(text.size() > 15);
}

int main(int argc, char *argv[])
{
    app::setUpProcess();
    QGuiApplication qt(argc, argv);
    app::setUpLook();
    WindowWalk walk;
    return QTest::qExec(&walk, argc, argv);
}

#include "tst_window_walk.moc"
