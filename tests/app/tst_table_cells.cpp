// SPDX-License-Identifier: MIT
#include "app/markdown/table_cells.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::TableCells;

class TableCellsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsTheCellsThatStay();
    void putsTheHeaderFirst();
    void shrinks();
};

void TableCellsTest::keepsTheCellsThatStay()
{
    TableCells cells;
    const QAbstractItemModelTester tester(&cells);
    cells.setRows({ QStringList { u"a"_s, u"b"_s } });
    QSignalSpy inserted(&cells, &QAbstractItemModel::rowsInserted);
    QSignalSpy removed(&cells, &QAbstractItemModel::rowsRemoved);
    QSignalSpy changed(&cells, &QAbstractItemModel::dataChanged);
    cells.setRows({ QStringList { u"a"_s, u"B"_s }, QStringList { u"c"_s, u"d"_s } });
    QCOMPARE(cells.rowCount(), 4);
    QCOMPARE(inserted.size(), 1);
    QCOMPARE(inserted.front().at(1).toInt(), 2);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(changed.front().at(0).toModelIndex().row(), 1);
    QCOMPARE(removed.size(), 0);
    QCOMPARE(cells.index(3, 0).data(Qt::UserRole).toString(), u"d"_s);
}

void TableCellsTest::putsTheHeaderFirst()
{
    TableCells cells;
    const QAbstractItemModelTester tester(&cells);
    cells.setRows({ QStringList { u"c"_s } });
    cells.setHeader({ u"h"_s });
    QCOMPARE(cells.rowCount(), 2);
    QCOMPARE(cells.index(0, 0).data(Qt::UserRole).toString(), u"h"_s);
    QCOMPARE(cells.index(1, 0).data(Qt::UserRole).toString(), u"c"_s);
}

void TableCellsTest::shrinks()
{
    TableCells cells;
    const QAbstractItemModelTester tester(&cells);
    cells.setRows({ QStringList { u"a"_s, u"b"_s }, QStringList { u"c"_s, u"d"_s } });
    cells.setRows({ QStringList { u"x"_s } });
    QCOMPARE(cells.rowCount(), 1);
    QCOMPARE(cells.index(0, 0).data(Qt::UserRole).toString(), u"x"_s);
    cells.setRows({});
    QCOMPARE(cells.rowCount(), 0);
}

} // namespace firesteel::test

QTEST_APPLESS_MAIN(firesteel::test::TableCellsTest)
#include "tst_table_cells.moc"
