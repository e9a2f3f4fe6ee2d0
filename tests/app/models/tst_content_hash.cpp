// SPDX-License-Identifier: MIT
#include "app/models/content_hash.h"

#include <QCryptographicHash>
#include <QTest>

using namespace firesteel::app;

namespace {

QByteArray bytes(qsizetype size)
{
    QByteArray result(size, '\0');
    quint32 value = 1;
    for (char &byte : result) {
        value = value * 1664525 + 1013904223;
        byte = static_cast<char>(value >> 24);
    }
    return result;
}

} // namespace

class ContentHashTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreesWithQt();
    void isGitsBlobId();
    void goesOnFromAnyState();
    void refusesForeignStates();
};

void ContentHashTest::agreesWithQt()
{
    for (const qsizetype size : { 0, 1, 55, 56, 63, 64, 65, 1000, 100'000 }) {
        const QByteArray content = bytes(size);
        ContentHash hash(ContentHash::Kind::Sha256, size);
        hash.add(content);
        QCOMPARE(hash.hexDigest(),
                 QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex());
    }
}

void ContentHashTest::isGitsBlobId()
{
    ContentHash empty(ContentHash::Kind::GitBlob, 0);
    QCOMPARE(empty.hexDigest(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"); // git hash-object
    ContentHash hello(ContentHash::Kind::GitBlob, 6);
    hello.add("hello\n");
    QCOMPARE(hello.hexDigest(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

// The state after any number of bytes, block borders included, continues to the same digest.
void ContentHashTest::goesOnFromAnyState()
{
    const QByteArray content = bytes(300);
    for (const auto kind : { ContentHash::Kind::Sha256, ContentHash::Kind::GitBlob }) {
        ContentHash whole(kind, content.size());
        whole.add(content);
        for (qsizetype cut = 0; cut <= content.size(); ++cut) {
            ContentHash first(kind, content.size());
            first.add(QByteArrayView(content).first(cut));
            const QByteArray state = first.state();
            first.add("something else that must not matter");
            auto second = ContentHash::restore(kind, state);
            QVERIFY(second);
            second->add(QByteArrayView(content).sliced(cut));
            QCOMPARE(second->hexDigest(), whole.hexDigest());
        }
    }
}

void ContentHashTest::refusesForeignStates()
{
    const QByteArray state = ContentHash(ContentHash::Kind::Sha256, 0).state();
    QVERIFY(ContentHash::restore(ContentHash::Kind::Sha256, state));
    QVERIFY(!ContentHash::restore(ContentHash::Kind::GitBlob, state));
    QVERIFY(!ContentHash::restore(ContentHash::Kind::Sha256, {}));
    QVERIFY(!ContentHash::restore(ContentHash::Kind::Sha256, state + 'x'));
    for (qsizetype size = 0; size < state.size(); ++size)
        QVERIFY(!ContentHash::restore(ContentHash::Kind::Sha256, state.first(size)));
    QByteArray overfull = state;
    overfull[overfull.size() - 64 - 1] = 64; // bytes pending in a block of 64
    QVERIFY(!ContentHash::restore(ContentHash::Kind::Sha256, overfull));
}

QTEST_GUILESS_MAIN(ContentHashTest)
#include "tst_content_hash.moc"
