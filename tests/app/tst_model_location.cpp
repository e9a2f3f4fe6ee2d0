// SPDX-License-Identifier: MIT
#include "app/model_location.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace firesteel::app;
using namespace Qt::Literals::StringLiterals;

class TestModelLocation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theCommandLineWins()
    {
        QCOMPARE(findModel(u"/named"_s, u"/variable"_s, u"/bin"_s).directory,
                 std::filesystem::path("/named"));
    }

    void thenTheVariable()
    {
        QCOMPARE(findModel({}, u"/variable"_s, u"/bin"_s).directory,
                 std::filesystem::path("/variable"));
    }

    void aRelativeFolderIsMadeAbsolute()
    {
        const auto directory = findModel(u"models/glimmer"_s, {}, u"/bin"_s).directory;
        QCOMPARE(directory, std::filesystem::current_path() / "models/glimmer");
    }

    void thenTheModelBesideTheProgram()
    {
        const QTemporaryDir root;
        const QString model = root.filePath(u"share/firesteel/glimmer/model"_s);
        QVERIFY(QDir().mkpath(model));
        QVERIFY(QDir().mkpath(root.filePath(u"bin"_s)));
        QVERIFY2(findModel({}, {}, root.filePath(u"bin"_s)).directory.empty(),
                 "a folder without a model");
        QFile config(model + u"/config.json"_s);
        QVERIFY(config.open(QIODevice::WriteOnly));
        QCOMPARE(findModel({}, {}, root.filePath(u"bin"_s)).directory,
                 std::filesystem::path(model.toStdString()));
    }

    void whatWasSearchedIsSaid()
    {
        const ModelLocation location = findModel({}, {}, u"/nowhere/bin"_s);
        QVERIFY(location.directory.empty());
        QVERIFY(location.searched.join(u' ').contains(u"--model"_s));
        QVERIFY(location.searched.join(u' ').contains(u"FIRESTEEL_MODEL"_s));
        QVERIFY(location.searched.contains(u"/nowhere/share/firesteel/glimmer/model"_s));
    }
};

QTEST_GUILESS_MAIN(TestModelLocation)

#include "tst_model_location.moc"
