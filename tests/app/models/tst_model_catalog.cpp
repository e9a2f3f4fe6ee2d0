// SPDX-License-Identifier: MIT
#include "app/models/model_catalog.h"

#include <QCryptographicHash>
#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

namespace {

// With ' for ", which reads better here.
QByteArray json(QByteArray text) { return text.replace('\'', '"'); }

QByteArray catalog(const QByteArray &model)
{
    const QByteArray digest
        = QCryptographicHash::hash("the text", QCryptographicHash::Sha256).toHex();
    return json("{'version': 1, 'licenses': [{'id': 'X-1', 'hubId': 'x', 'name': 'X',"
                " 'url': 'https://x.test/', 'text': 'x.txt', 'sha256': '"
                + digest + "', 'restricted': false}], 'models': [")
        + model + "]}";
}

const QByteArray kGood
    = json("{'id': 'm', 'name': 'M', 'creator': 'C', 'role': 'target', 'license': 'X-1',"
           " 'repository': 'o/m', 'revision': '0123456789012345678901234567890123456789',"
           " 'bytes': 5, 'weights': [], 'otherWeights': []}");

ModelResult<ModelCatalog> parse(const QByteArray &text)
{
    return ModelCatalog::parse(text, [](const QString &) { return QByteArray("the text"); });
}

} // namespace

class ModelCatalogTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theShippedOneParses();
    void pinsTargetAndDrafter();
    void tellsTheDraftersWeightsApart();
    void everyLicenseIsSummarised();
    void namesTheFault_data();
    void namesTheFault();
};

void ModelCatalogTest::theShippedOneParses()
{
    // Digests of the licence texts are checked by parse().
    QVERIFY(ModelCatalog::shipped().models().size() >= 2);
    const License *license = ModelCatalog::shipped().license(u"CC-BY-NC-ND-4.0"_s);
    QVERIFY(license != nullptr);
    QVERIFY(license->isRestricted);
    QVERIFY(license->text.contains(u"produce and reproduce, but not Share, Adapted Material"_s));
    for (int section = 1; section <= 8; ++section)
        QVERIFY(license->text.contains(u"\nSection %1 – "_s.arg(section)));
    QVERIFY(!ModelCatalog::shipped().license(u"MIT"_s)->isRestricted);
    QCOMPARE(ModelCatalog::shipped().licenseOfHub(u"cc-by-nc-nd-4.0"_s), license);
}

void ModelCatalogTest::pinsTargetAndDrafter()
{
    const ModelCatalog &catalog = ModelCatalog::shipped();
    const CatalogModel *target = catalog.model(u"turboderp/GLM-5.3-Flash-exl3"_s,
                                               u"51058cd551c7e570d87bd32a4adee720edce2349"_s);
    QVERIFY(target != nullptr);
    QCOMPARE(target->role, ModelRole::Target);
    QCOMPARE(target->licenseId, u"MIT"_s);
    const CatalogModel *drafter = catalog.model(u"incoai/GLM-5.3-Flash-DFlash2"_s,
                                                u"bf582e4eacc1810f76656d1811693ff6c6737d2a"_s);
    QVERIFY(drafter != nullptr);
    QCOMPARE(drafter->role, ModelRole::Drafter);
    QCOMPARE(drafter->licenseId, u"CC-BY-NC-ND-4.0"_s);
    QVERIFY(catalog.model(u"incoai/GLM-5.3-Flash-DFlash2"_s, u"main"_s) == nullptr);
}

void ModelCatalogTest::tellsTheDraftersWeightsApart()
{
    const CatalogModel *drafter = ModelCatalog::shipped().model(
        u"incoai/GLM-5.3-Flash-DFlash2"_s, u"bf582e4eacc1810f76656d1811693ff6c6737d2a"_s);
    QCOMPARE(drafter->weights.size(), 1U);
    QVERIFY(drafter->weights[0].sha256.startsWith("b038e1d9"));
    QCOMPARE(drafter->otherWeights.size(), 2U);
    QVERIFY(drafter->otherWeights[0].sha256.startsWith("8931dc52"));
    QVERIFY(drafter->otherWeights[0].revision.startsWith("7d74cdd"_L1));
    QVERIFY(drafter->otherWeights[1].sha256.startsWith("b33c0347"));
    QVERIFY(drafter->otherWeights[1].revision.startsWith("dc77ff1c"_L1));
}

void ModelCatalogTest::everyLicenseIsSummarised()
{
    for (const License &license : ModelCatalog::shipped().licenses()) {
        const LicenseSummary summary = licenseSummary(license.id);
        QVERIFY2(!summary.allowed.isEmpty(), qPrintable(license.id));
        QCOMPARE(summary.forbidden.isEmpty(), !license.isRestricted);
    }
    QVERIFY(licenseSummary(u"unheard-of"_s).allowed.isEmpty());
}

void ModelCatalogTest::namesTheFault_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    QTest::newRow("not json") << QByteArray("{") << u"unterminated"_s;
    QTest::newRow("version") << QByteArray("{\"version\": 2}") << u"version: 1"_s;
    QTest::newRow("branch") << catalog(
        QByteArray(kGood).replace("0123456789012345678901234567890123456789", "main"))
                            << u"models[0]: revision: 40 hexadecimal"_s;
    QTest::newRow("size") << catalog(QByteArray(kGood).replace(": 5", ": -5"))
                          << u"models[0]: bytes"_s;
    QTest::newRow("role") << catalog(QByteArray(kGood).replace("target", "helper"))
                          << u"models[0]: role"_s;
    QTest::newRow("license") << catalog(QByteArray(kGood).replace("X-1", "Y-1"))
                             << u"m: license: \"Y-1\""_s;
    QTest::newRow("text") << catalog(kGood).replace("\"sha256\": \"", "\"sha256\": \"0")
                          << u"licenses[0]: sha256"_s;
    QTest::newRow("weights") << catalog(QByteArray(kGood).replace(
        "\"weights\": []", json("'weights': [{'path': 'a', 'size': 1, 'sha256': '12'}]")))
                             << u"models[0].weights: sha256: 64"_s;
}

void ModelCatalogTest::namesTheFault()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, expected);
    QVERIFY(parse(catalog(kGood)));
    const auto parsed = parse(text);
    QVERIFY(!parsed);
    QVERIFY2(parsed.error().detail.contains(expected), qPrintable(parsed.error().detail));
}

QTEST_GUILESS_MAIN(ModelCatalogTest)
#include "tst_model_catalog.moc"
