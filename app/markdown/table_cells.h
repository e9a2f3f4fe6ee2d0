// SPDX-License-Identifier: MIT
//
// The cells of a table, header first, as a flat list model: a table that is still being written
// adds the items of its new cells and keeps the others, where a plain array would make a view start
// over.
#pragma once

#include <QAbstractListModel>
#include <QStringList>
#include <QVariantList>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class TableCells : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    // MessageBlockModel's tableHeader and tableRows. The one role is html.
    Q_PROPERTY(QStringList header READ header WRITE setHeader NOTIFY headerChanged FINAL)
    Q_PROPERTY(QVariantList rows READ rows WRITE setRows NOTIFY rowsChanged FINAL)

public:
    using QAbstractListModel::QAbstractListModel;

    QStringList header() const { return m_header; }
    void setHeader(const QStringList &header);
    QVariantList rows() const { return m_rows; }
    void setRows(const QVariantList &rows);

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
    void headerChanged();
    void rowsChanged();

private:
    void updateCells();

    QStringList m_header;
    QVariantList m_rows;
    QStringList m_cells;
};

} // namespace firesteel::app
