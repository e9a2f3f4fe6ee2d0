// SPDX-License-Identifier: MIT
#include "app/model_location.h"

#include <QCoreApplication>
#include <QDir>

namespace firesteel::app {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(ModelLocation)
};

std::filesystem::path toPath(const QString &folder)
{
    return QDir(folder).filesystemAbsolutePath();
}

} // namespace

ModelLocation findModel(const QString &commandLine, const QString &environment,
                        const QString &programFolder)
{
    if (!commandLine.isEmpty())
        return { toPath(commandLine), { commandLine } };
    if (!environment.isEmpty())
        return { toPath(environment), { environment } };

    ModelLocation location;
    location.searched << Words::tr("the command line (--model)")
                      << Words::tr("the variable FIRESTEEL_MODEL");
    // Installed beside the program, and in a checkout.
    for (const auto &folder :
         { u"../share/firesteel/glimmer/model"_s, u"../../../resources/glimmer/model"_s }) {
        const QString candidate = QDir::cleanPath(programFolder + u'/' + folder);
        if (QFileInfo::exists(candidate + u"/config.json"_s)) {
            location.directory = toPath(candidate);
            return location;
        }
        location.searched << candidate;
    }
    return location;
}

} // namespace firesteel::app
