// SPDX-License-Identifier: MIT
#include "app/models/hub_cache.h"
#include "app/models/hub_token.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

// What the environment says, without a keychain.
class HubTokenTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsAForeignToken_data();
    void findsAForeignToken();
    void prefersWhatItWasGiven();
    void saysWhichOfTwoIsUsed();
    void findsTheCache();
};

void HubTokenTest::findsAForeignToken_data()
{
    QTest::addColumn<QStringList>("variables"); // "@" is the home folder
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<HubToken::Source>("source");
    using Source = HubToken::Source;
    QTest::newRow("none") << QStringList() << QByteArray() << Source::None;
    QTest::newRow("variable") << QStringList { u"HF_TOKEN=hf_env\n"_s, u"HF_HOME=@/hf"_s }
                              << QByteArray("hf_env") << Source::Environment;
    QTest::newRow("file") << QStringList { u"HF_HOME=@/hf"_s } << QByteArray("hf_file")
                          << Source::File;
    QTest::newRow("path") << QStringList { u"HF_TOKEN_PATH=@/hf/token"_s } << QByteArray("hf_file")
                          << Source::File;
    QTest::newRow("forbidden") << QStringList { u"HF_HUB_DISABLE_IMPLICIT_TOKEN=1"_s,
                                                u"HF_TOKEN=hf_env"_s }
                               << QByteArray() << Source::None;
}

void HubTokenTest::findsAForeignToken()
{
    QFETCH(const QStringList, variables);
    QFETCH(const QByteArray, token);
    QFETCH(const HubToken::Source, source);
    const QTemporaryDir home;
    QVERIFY(QDir(home.path()).mkdir(u"hf"_s));
    QFile file(home.filePath(u"hf/token"_s));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("hf_file\n");
    file.close();
    HubToken::Setup setup;
    setup.home = home.path();
    for (const QString &variable : variables)
        setup.environment.insert(variable.section(u'=', 0, 0),
                                 variable.section(u'=', 1).replace(u'@', home.path()));
    HubToken found(setup);
    const QSignalSpy changed(&found, &HubToken::changed);
    found.load();
    QCOMPARE(changed.size(), 1);
    QCOMPARE(found.token(), token);
    QCOMPARE(found.source(), source);
    QVERIFY(!found.sourceText().isEmpty());
    QVERIFY(token.isEmpty() || !found.sourceText().contains(QString::fromLatin1(token)));
}

void HubTokenTest::prefersWhatItWasGiven()
{
    HubToken::Setup setup;
    setup.environment.insert(u"HF_TOKEN"_s, u"hf_env"_s);
    HubToken token(setup);
    token.load();
    token.set("hf_mine");
    QCOMPARE(token.token(), "hf_mine");
    QCOMPARE(token.source(), HubToken::Source::Session);
    token.set({});
    QCOMPARE(token.token(), "hf_env");
}

// A variable set long ago must not win in silence over the token a person logged in with.
void HubTokenTest::saysWhichOfTwoIsUsed()
{
    const QTemporaryDir home;
    QFile file(home.filePath(u"token"_s));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("hf_stored\n");
    file.close();
    HubToken::Setup setup;
    setup.environment.insert(u"HF_TOKEN_PATH"_s, file.fileName());
    HubToken stored(setup);
    stored.load();
    QVERIFY(!stored.isOwn());
    QVERIFY(stored.sourceText().contains(u"stored"_s));
    QVERIFY(!stored.sourceText().contains(u"HF_TOKEN"_s));

    setup.environment.insert(u"HF_TOKEN"_s, u"hf_stored"_s); // the same twice
    HubToken same(setup);
    same.load();
    QVERIFY(!same.sourceText().contains(u"not used"_s));

    setup.environment.insert(u"HF_TOKEN"_s, u"hf_env"_s);
    HubToken token(setup);
    token.load();
    QCOMPARE(token.token(), "hf_env");
    QVERIFY(token.sourceText().contains(u"HF_TOKEN"_s));
    QVERIFY(token.sourceText().contains(u"not used"_s));
    token.set("hf_mine");
    QVERIFY(token.isOwn());
    QVERIFY(token.sourceText().contains(u"you gave"_s));
    QVERIFY(token.sourceText().contains(u"HF_TOKEN holds another one, which is not used"_s));
    token.set("hf_env");
    QVERIFY(!token.sourceText().contains(u"not used"_s));
}

void HubTokenTest::findsTheCache()
{
    QProcessEnvironment environment;
    QCOMPARE(hubCacheFolder(environment, u"/users/me"_s), u"/users/me/.cache/huggingface/hub"_s);
    environment.insert(u"XDG_CACHE_HOME"_s, u"/x"_s);
    QCOMPARE(hubCacheFolder(environment, u"/users/me"_s), u"/x/huggingface/hub"_s);
    environment.insert(u"HF_HOME"_s, u"/hf"_s);
    QCOMPARE(hubCacheFolder(environment, u"/users/me"_s), u"/hf/hub"_s);
    environment.insert(u"HF_HUB_CACHE"_s, u"/cache"_s);
    QCOMPARE(hubCacheFolder(environment, u"/users/me"_s), u"/cache"_s);
}

QTEST_GUILESS_MAIN(HubTokenTest)
#include "tst_hub_token.moc"
