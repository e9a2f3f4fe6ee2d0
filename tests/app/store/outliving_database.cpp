// SPDX-License-Identifier: MIT
//
// What tst_database_thread starts: a database that is destroyed after the QCoreApplication it was
// used in. Work that is still queued when that ends is to be done; what comes later is to be told
// so, and nobody is to wait.
//
// Usage: outliving_database DATABASE ROWS
#include "app/store/database_thread.h"
#include "app/store/sql.h"

#include <QCoreApplication>

#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace firesteel;
using namespace Qt::Literals::StringLiterals;

int main(int argc, char *argv[])
{
    auto application = std::make_unique<QCoreApplication>(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() != 3) {
        std::fputs("usage: outliving_database DATABASE ROWS\n", stderr);
        return EXIT_FAILURE;
    }
    const int rows = arguments[2].toInt();
    app::DatabaseThread database(arguments[1]);
    const auto insert = [&database](int id) {
        return database.keep([id](const QSqlDatabase &sql) {
            return app::execute(
                       sql, u"INSERT INTO conversations (id, created, updated) VALUES (?, 0, 0)"_s,
                       { id })
                .transform([](const QSqlQuery &) { });
        });
    };
    for (int id = 1; id <= rows; ++id)
        insert(id);
    application.reset();
    const auto late = insert(rows + 1);
    if (!late.isFinished() || late.result()
        || late.result().error().code != app::StoreErrorCode::Unavailable)
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
