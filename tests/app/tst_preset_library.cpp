// SPDX-License-Identifier: MIT
//
// Presets in the database: made, changed, renamed, deleted with undo, read again; damaged rows.
#include "app/settings/preset_library.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace firesteel::test {

namespace {

using namespace Qt::Literals::StringLiterals;
using app::DatabaseThread;
using app::PresetLibrary;
using app::RecordId;
using app::RequestParameter;

constexpr auto kTemperature = static_cast<int>(RequestParameter::Temperature);

// A library that can be opened again on the same file.
struct Session
{
    Session() { start(); }

    void start()
    {
        tester.reset();
        library.reset();
        database.reset();
        database = std::make_unique<DatabaseThread>(folder.filePath(u"presets.db"_s));
        library = std::make_unique<PresetLibrary>(*database);
        tester = std::make_unique<QAbstractItemModelTester>(library.get());
        QSignalSpy read(library.get(), &QAbstractItemModel::modelReset);
        library->open();
        if (!QTest::qWaitFor([&] { return !read.isEmpty(); }, 60'000))
            qFatal("the presets are not read");
    }

    void run(const QString &statement)
    {
        valueOf(waitFor(database->write(
            [statement](const QSqlDatabase &sql) { return app::executeAll(sql, { statement }); })));
    }

    QStringList names() const
    {
        QStringList all;
        for (int row = 0; row < library->rowCount(); ++row)
            all << library->index(row).data(PresetLibrary::NameRole).toString();
        return all;
    }
    QString defaultName() const
    {
        const app::Preset *preset = library->find(library->defaultId());
        return preset != nullptr ? preset->name : QString();
    }

    QTemporaryDir folder;
    std::unique_ptr<DatabaseThread> database;
    std::unique_ptr<PresetLibrary> library;
    std::unique_ptr<QAbstractItemModelTester> tester;
};

} // namespace

class PresetLibraryTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void beginsWithStandardAlone();
    void remembersWhatWasMade();
    void standardCannotBeChanged();
    void namesAreNeverTheSame();
    void deletesWithUndo();
    void theDefaultSurvivesAndFallsBack();
    void brokenRowsAreMendedWithANote();
    void editsOnlyTheCurrentOne();
};

void PresetLibraryTest::beginsWithStandardAlone()
{
    Session session;
    QCOMPARE(session.names(), QStringList { u"Standard"_s });
    QCOMPARE(session.library->defaultId(), PresetLibrary::kStandard);
    QCOMPARE(session.library->currentRow(), 0);
    QVERIFY(session.library->notice().isEmpty());
}

void PresetLibraryTest::remembersWhatWasMade()
{
    Session session;
    session.library->create();
    QCOMPARE(session.library->currentRow(), 1);
    session.library->rename(1, u"  Code \n review "_s);
    session.library->parameters()->setNumber(kTemperature, 0.2);
    session.library->parameters()->setText(static_cast<int>(RequestParameter::SystemPrompt),
                                           u"You review code.\n“Strictly”"_s);
    session.library->duplicate(1);
    session.start();
    QCOMPARE(session.names(), QStringList({ u"Standard"_s, u"Code review"_s, u"Code review 2"_s }));
    session.library->setCurrentRow(2);
    const auto &settings = session.library->parameters()->chosen();
    QCOMPARE(settings.value(RequestParameter::Temperature), QJsonValue(0.2));
    QCOMPARE(settings.value(RequestParameter::SystemPrompt).toString(),
             u"You review code.\n“Strictly”"_s);
}

void PresetLibraryTest::standardCannotBeChanged()
{
    Session session;
    session.library->rename(0, u"Mine"_s);
    session.library->remove(0);
    session.library->remove(7);
    session.library->rename(-1, u"x"_s);
    session.library->parameters()->setNumber(kTemperature, 0.2);
    QCOMPARE(session.names(), QStringList { u"Standard"_s });
    QVERIFY(session.library->find(PresetLibrary::kStandard)->settings.isEmpty());
    QVERIFY(!session.library->canUndoRemove());
}

void PresetLibraryTest::namesAreNeverTheSame()
{
    Session session;
    session.library->create();
    session.library->create();
    QCOMPARE(session.names(), QStringList({ u"Standard"_s, u"New preset"_s, u"New preset 2"_s }));
    session.library->rename(2, u"New preset"_s);
    QCOMPARE(session.names().constLast(), u"New preset 2"_s);
    session.library->rename(2, u"   "_s);
    QCOMPARE(session.names().constLast(), u"New preset 2"_s);
    session.library->rename(2, QString(500, u'x'));
    QCOMPARE(session.names().constLast().size(), 80);
}

void PresetLibraryTest::deletesWithUndo()
{
    Session session;
    session.library->create();
    session.library->create();
    session.library->rename(1, u"First"_s);
    session.library->setCurrentRow(1);
    session.library->parameters()->setNumber(kTemperature, 1.5);
    const RecordId id = session.library->index(1).data(PresetLibrary::PresetIdRole).toLongLong();
    session.library->makeDefault(1);
    session.library->remove(1);
    QCOMPARE(session.library->defaultId(), PresetLibrary::kStandard);
    QCOMPARE(session.library->removedName(), u"First"_s);
    QCOMPARE(session.library->find(id), nullptr);
    session.library->undoRemove();
    QCOMPARE(session.names(), QStringList({ u"Standard"_s, u"First"_s, u"New preset 2"_s }));
    QCOMPARE(session.library->defaultId(), id);
    QCOMPARE(session.library->parameters()->chosen().value(RequestParameter::Temperature),
             QJsonValue(1.5));
    session.library->undoRemove(); // once
    QCOMPARE(session.library->rowCount(), 3);
    session.start();
    QCOMPARE(session.defaultName(), u"First"_s);
    session.library->remove(2);
    session.start();
    QCOMPARE(session.names(), QStringList({ u"Standard"_s, u"First"_s }));
}

void PresetLibraryTest::theDefaultSurvivesAndFallsBack()
{
    Session session;
    session.library->create();
    session.library->create();
    session.library->makeDefault(2);
    session.library->makeDefault(1);
    session.start();
    QCOMPARE(session.defaultName(), u"New preset"_s);
    session.library->makeDefault(0);
    session.start();
    QCOMPARE(session.defaultName(), u"Standard"_s);
}

void PresetLibraryTest::brokenRowsAreMendedWithANote()
{
    Session session;
    session.run(u"INSERT INTO presets (id, name, settings) VALUES"
                " (1, 'Hot', '{\"temperature\": 77, \"later\": true}'),"
                " (2, 'Torn', '{\"temperat'),"
                " (3, 'List', '[1]'),"
                " (4, 'Fine', '{\"topK\": 3}')"_s);
    session.start();
    QCOMPARE(session.names(),
             QStringList({ u"Standard"_s, u"Hot"_s, u"Torn"_s, u"List"_s, u"Fine"_s }));
    QCOMPARE(session.library->find(1)->settings.value(RequestParameter::Temperature),
             QJsonValue(2));
    QVERIFY(session.library->find(1)->settings.json().contains(u"later"_s));
    QVERIFY(session.library->find(2)->settings.isEmpty());
    QVERIFY(session.library->find(3)->settings.isEmpty());
    const QString notice = session.library->notice();
    QVERIFY2(notice.contains(u"Hot"_s) && notice.contains(u"Torn"_s) && notice.contains(u"List"_s),
             qPrintable(notice));
    QVERIFY(!notice.contains(u"Fine"_s));
    session.library->dismissNotice();
    QVERIFY(session.library->notice().isEmpty());
}

void PresetLibraryTest::editsOnlyTheCurrentOne()
{
    Session session;
    session.library->create();
    session.library->create();
    session.library->setCurrentRow(1);
    session.library->parameters()->setNumber(kTemperature, 0.3);
    session.library->setCurrentRow(2);
    QVERIFY(!session.library->parameters()->chosen().has(RequestParameter::Temperature));
    session.library->setCurrentRow(99);
    QCOMPARE(session.library->currentRow(), 2);
    session.library->setCurrentRow(1);
    QCOMPARE(session.library->parameters()->chosen().value(RequestParameter::Temperature),
             QJsonValue(0.3));
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::PresetLibraryTest)
#include "tst_preset_library.moc"
