// SPDX-License-Identifier: MIT
#include "app/models/part_file.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

class PartFileTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hashesWhateverOrderThePartsComeIn();
    void goesOnFromAnyCheckpoint();
    void forgetsWhatTheDiskDoesNotBearOut();
    void tellsOtherBytes();
    void neverWritesThroughALink();

private:
    static QByteArray content();
    static HubFile file();
    QString path(const QString &name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

QByteArray PartFileTest::content()
{
    QByteArray bytes(100'000, Qt::Uninitialized);
    QRandomGenerator random(7);
    for (char &byte : bytes)
        byte = static_cast<char>(random.generate());
    return bytes;
}

HubFile PartFileTest::file()
{
    return { u"w"_s, content().size(), ContentHash::Kind::Sha256,
             QCryptographicHash::hash(content(), QCryptographicHash::Sha256).toHex() };
}

void PartFileTest::hashesWhateverOrderThePartsComeIn()
{
    QRandomGenerator random(11);
    for (int round = 0; round < 30; ++round) {
        auto part = PartFile::open(path(u"part"_s), file(), {});
        QVERIFY(part);
        const QByteArray whole = content();
        while (!part->isComplete()) {
            // Overlaps what is there, repeats it, leaves holes.
            const qint64 begin = random.bounded(whole.size());
            const qint64 size = 1 + random.bounded(20'000);
            QVERIFY(part->write(
                begin,
                QByteArrayView(whole).sliced(begin).first(std::min(size, whole.size() - begin))));
            if (const auto gap = part->gap(0, whole.size()); random.bounded(4) == 0 && gap)
                QVERIFY(part->write(
                    gap->begin, QByteArrayView(whole).sliced(gap->begin, gap->end - gap->begin)));
            QVERIFY(part->bytes() <= whole.size());
        }
        QCOMPARE(part->bytes(), whole.size());
        QVERIFY(part->finish(path(u"whole"_s)));
        QFile finished(path(u"whole"_s));
        QVERIFY(finished.open(QIODevice::ReadOnly) && finished.readAll() == whole);
        QVERIFY(!QFileInfo::exists(path(u"part"_s)));
    }
}

void PartFileTest::goesOnFromAnyCheckpoint()
{
    QRandomGenerator random(13);
    const QByteArray whole = content();
    for (int round = 0; round < 20; ++round) {
        FileProgress saved;
        for (int lives = 0; lives < 5; ++lives) {
            auto part = PartFile::open(path(u"part"_s), file(), saved);
            QVERIFY(part);
            QCOMPARE(part->bytes(), saved.bytes());
            for (int i = 0; i < 3; ++i) {
                const qint64 begin = random.bounded(whole.size());
                QVERIFY(part->write(begin,
                                    QByteArrayView(whole).sliced(begin).first(
                                        std::min<qint64>(9000, whole.size() - begin))));
            }
            auto progress = part->checkpoint();
            QVERIFY(progress);
            saved = *progress;
            // Lost by the kill: written, not stored.
            QVERIFY(part->write(0, QByteArrayView(whole).first(5000)));
        }
        auto part = PartFile::open(path(u"part"_s), file(), saved);
        while (const auto gap = part->gap(0, whole.size()))
            QVERIFY(part->write(gap->begin,
                                QByteArrayView(whole).sliced(gap->begin, gap->end - gap->begin)));
        QVERIFY(part->finish(path(u"whole"_s)));
    }
}

void PartFileTest::forgetsWhatTheDiskDoesNotBearOut()
{
    FileProgress saved;
    {
        auto part = PartFile::open(path(u"part"_s), file(), {});
        QVERIFY(part && part->write(0, QByteArrayView(content()).first(50'000)));
        saved = part->checkpoint().value();
    }
    QVERIFY(QFile::resize(path(u"part"_s), 10));
    QCOMPARE(PartFile::open(path(u"part"_s), file(), saved)->bytes(), 0);
    saved.hashState = "not a state";
    QCOMPARE(PartFile::open(path(u"part"_s), file(), saved)->bytes(), 0);
    QVERIFY(QFile::remove(path(u"part"_s)));
}

void PartFileTest::tellsOtherBytes()
{
    auto part = PartFile::open(path(u"part"_s), file(), {});
    QByteArray other = content();
    other[77'777] = static_cast<char>(other[77'777] ^ 1);
    QVERIFY(part->write(0, other));
    const auto finished = part->finish(path(u"bad"_s));
    QVERIFY(!finished);
    QCOMPARE(finished.error().kind, ModelProblem::Kind::ContentMismatch);
    QVERIFY(!QFileInfo::exists(path(u"bad"_s)));
}

void PartFileTest::neverWritesThroughALink()
{
    QFile precious(path(u"precious"_s));
    QVERIFY(precious.open(QIODevice::WriteOnly));
    precious.write("mine");
    precious.close();
    QVERIFY(QFile::link(path(u"precious"_s), path(u"trap.part"_s)));
    const auto part = PartFile::open(path(u"trap.part"_s), file(), {});
    QVERIFY(!part);
    QCOMPARE(part.error().kind, ModelProblem::Kind::DiskFailed);
    QVERIFY(precious.open(QIODevice::ReadOnly) && precious.readAll() == "mine");
}

QTEST_GUILESS_MAIN(PartFileTest)
#include "tst_part_file.moc"
