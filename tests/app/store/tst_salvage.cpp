// SPDX-License-Identifier: MIT
//
// A damaged database of conversations: the file is kept, what can be read is carried over.
#include "app/store/conversation_store.h"
#include "app/store/sql.h"
#include "tests/app/store/store_fixture.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <memory>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::ConversationRecord;
using app::ConversationStore;
using app::DatabaseThread;
using app::MessageRecord;
using app::RecordId;

namespace {

constexpr int kConversations = 40;
constexpr int kMessagesEach = 20;
constexpr qint64 kPageBytes = 4096;

} // namespace

class SalvageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void carriesOverWhatCanBeRead();
    void carriesOverABranchWithoutItsBeginning();
    void startsEmptyWhenNothingCanBeRead();

private:
    QString file() const { return m_folder->filePath(u"firesteel.db"_s); }
    void overwrite(qint64 page, qint64 count);
    int pageOf(const QString &table); // a leaf in the middle of a table

    std::unique_ptr<QTemporaryDir> m_folder;
    QList<RecordId> m_ids;
};

void SalvageTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_ids.clear();
    DatabaseThread database(file());
    valueOf(waitFor(database.write([this](const QSqlDatabase &sql) -> app::StoreResult<void> {
        for (int i = 0; i < kConversations; ++i) {
            const ConversationRecord record = newConversation(u"conversation %1"_s.arg(i));
            m_ids << record.summary.id;
            if (auto done = app::insertConversation(sql, record); !done)
                return done;
            std::optional<RecordId> parent;
            for (int k = 0; k < kMessagesEach; ++k) {
                const MessageRecord message = newMessage(
                    record, parent, "word" + std::to_string(i) + std::string(300, ' '));
                parent = message.id;
                if (auto done = app::insertMessage(sql, message); !done)
                    return done;
            }
        }
        return {};
    })));
}

void SalvageTest::overwrite(qint64 page, qint64 count)
{
    QFile bytes(file());
    QVERIFY(bytes.open(QIODevice::ReadWrite));
    QVERIFY(bytes.seek((page - 1) * kPageBytes));
    QCOMPARE(bytes.write(QByteArray(count * kPageBytes, '\xA5')), count * kPageBytes);
}

int SalvageTest::pageOf(const QString &table)
{
    // Of the pages that belong to no index, the one where a text of the middle stands.
    QFile bytes(file());
    if (!bytes.open(QIODevice::ReadOnly))
        return 0;
    const QByteArray all = bytes.readAll();
    const QByteArray needle = (table == "messages"_L1 ? "word%1 " : "conversation %1");
    const qsizetype at
        = all.indexOf(QByteArray(needle).replace("%1", QByteArray::number(kConversations / 2)));
    return static_cast<int>(at / kPageBytes) + 1;
}

void SalvageTest::carriesOverWhatCanBeRead()
{
    overwrite(pageOf(u"messages"_s), 1);
    DatabaseThread database(file());
    ConversationStore store(database);
    const auto listed = valueOf(waitFor(store.open()));
    QCOMPARE(listed.size(), std::size_t(kConversations));
    QTRY_VERIFY(!database.notice().isEmpty());
    QVERIFY(database.notice().contains(u"firesteel.damaged-"_s));
    QCOMPARE(database.state(), DatabaseThread::State::Ready);
    const auto count = valueOf(waitFor(database.read([](const QSqlDatabase &sql) {
                           return app::singleValue(sql, u"SELECT count(*) FROM messages"_s);
                       }))).toInt();
    // One page of about twelve rows is lost.
    QVERIFY2(count < kConversations * kMessagesEach, qPrintable(QString::number(count)));
    QVERIFY2(count >= kConversations * kMessagesEach - 20, qPrintable(QString::number(count)));
    QCOMPARE(valueOf(waitFor(store.load(m_ids.front(), {}))).messages.size(),
             std::size_t(kMessagesEach));
    QCOMPARE(valueOf(waitFor(store.search(u"word3"_s, 100))).size(), 11U); // 3, 30 to 39
    const auto check = valueOf(waitFor(database.read([](const QSqlDatabase &sql) {
        return app::singleValue(sql, u"PRAGMA integrity_check"_s);
    })));
    QCOMPARE(check.toString(), u"ok"_s);
    const auto references = waitFor(database.read([](const QSqlDatabase &sql) {
        return app::singleValue(sql, u"SELECT count(*) FROM pragma_foreign_key_check"_s);
    }));
    QCOMPARE(references->toInt(), 0);
    QCOMPARE(QDir(m_folder->path()).entryList({ u"firesteel.damaged-*.db"_s }).size(), 1);
}

void SalvageTest::carriesOverABranchWithoutItsBeginning()
{
    overwrite(pageOf(u"messages"_s), 1);
    DatabaseThread database(file());
    ConversationStore store(database);
    valueOf(waitFor(store.open()));
    for (const RecordId id : m_ids) {
        const auto whole = valueOf(waitFor(store.load(id, {})));
        QVERIFY2(!whole.messages.empty(), qPrintable(whole.record.summary.title));
    }
}

void SalvageTest::startsEmptyWhenNothingCanBeRead()
{
    overwrite(1, 1);
    DatabaseThread database(file());
    ConversationStore store(database);
    QCOMPARE(valueOf(waitFor(store.open())).size(), 0U);
    QTRY_VERIFY(database.notice().contains(u"firesteel.damaged-"_s));
    const ConversationRecord record = newConversation(u"new"_s);
    valueOf(waitFor(store.addConversation(record)));
    QCOMPARE(valueOf(waitFor(store.list())).size(), 1U);
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::SalvageTest)
#include "tst_salvage.moc"
