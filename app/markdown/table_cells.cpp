// SPDX-License-Identifier: MIT
#include "app/markdown/table_cells.h"

#include <utility>

namespace firesteel::app {

int TableCells::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_cells.size());
}

QVariant TableCells::data(const QModelIndex &index, int role) const
{
    const bool isCell
        = checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid);
    return isCell && (role == Qt::UserRole || role == Qt::DisplayRole) ? m_cells.at(index.row())
                                                                       : QVariant();
}

QHash<int, QByteArray> TableCells::roleNames() const { return { { Qt::UserRole, "html" } }; }

void TableCells::setHeader(const QStringList &header)
{
    if (header == m_header)
        return;
    m_header = header;
    updateCells();
    Q_EMIT headerChanged();
}

void TableCells::setRows(const QVariantList &rows)
{
    m_rows = rows;
    updateCells();
    Q_EMIT rowsChanged();
}

void TableCells::updateCells()
{
    QStringList cells = m_header;
    for (const QVariant &row : std::as_const(m_rows))
        cells += row.toStringList();
    if (cells.size() < m_cells.size()) {
        beginRemoveRows({}, static_cast<int>(cells.size()), static_cast<int>(m_cells.size()) - 1);
        m_cells.resize(cells.size());
        endRemoveRows();
    }
    for (qsizetype i = 0; i < m_cells.size(); ++i) {
        if (m_cells.at(i) == cells.at(i))
            continue;
        m_cells[i] = cells.at(i);
        const QModelIndex changed = index(static_cast<int>(i), 0);
        Q_EMIT dataChanged(changed, changed);
    }
    if (cells.size() > m_cells.size()) {
        beginInsertRows({}, static_cast<int>(m_cells.size()), static_cast<int>(cells.size()) - 1);
        m_cells = cells;
        endInsertRows();
    }
}

} // namespace firesteel::app
