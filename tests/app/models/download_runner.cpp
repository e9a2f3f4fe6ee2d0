// SPDX-License-Identifier: MIT
//
// A process to be killed: accepts the licence of the catalogue's one model, if that was not done
// before, and downloads it. Ends with 0 when it is ready. Started by tst_download_kill.
//
//     download_runner ENDPOINT MODELS_FOLDER DATABASE CATALOG
#include "tests/app/models/hub_fixture.h"

#include <QCoreApplication>
#include <QFile>

#include <cstdio>

using namespace firesteel;
using State = app::ModelStatus::State;

int main(int argc, char *argv[])
{
    QCoreApplication qt(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    QFile file(arguments.value(4));
    if (arguments.size() != 5 || !file.open(QIODevice::ReadOnly))
        return 3;
    const app::ModelCatalog catalog = test::HubFixture::parseCatalog(file.readAll());
    test::DownloadSession session(catalog, test::quickSetup(QUrl(arguments[1]), arguments[2]),
                                  arguments[3]);
    QTimer watch;
    bool isAsked = false;
    QObject::connect(&watch, &QTimer::timeout, &qt, [&] {
        const app::ModelStatus status = session.status();
        if (session.isLoaded() && !isAsked && status.state == State::Available) {
            isAsked = true;
            session.accept();
        }
        if (status.state == State::Ready)
            QCoreApplication::exit(0);
        if (status.state == State::Failed) {
            std::fprintf(stderr, "%s %s\n", qPrintable(problemText(status.problem.kind)),
                         qPrintable(status.problem.detail));
            QCoreApplication::exit(2);
        }
    });
    watch.start(20);
    return QCoreApplication::exec();
}
