// SPDX-License-Identifier: MIT
#include "app/model_location.h"

#include <QCoreApplication>
#include <QDir>

#include <system_error>
#include <utility>

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

// Where the program keeps both, the drafter lies beside its model.
ModelLocation withDrafter(ModelLocation location)
{
    const std::filesystem::path drafter = location.directory.parent_path() / "drafter";
    std::error_code error;
    if (std::filesystem::exists(drafter / "config.json", error))
        location.drafter = drafter;
    return location;
}

} // namespace

ModelLocation findModel(const QString &commandLine, const QString &environment,
                        const QString &programFolder)
{
    if (!commandLine.isEmpty())
        return withDrafter({ toPath(commandLine), { commandLine } });
    if (!environment.isEmpty())
        return withDrafter({ toPath(environment), { environment } });

    ModelLocation location;
    location.searched << Words::tr("the command line (--model)")
                      << Words::tr("the variable FIRESTEEL_MODEL");
    // Installed beside the program, and in a checkout.
    for (const auto &folder :
         { u"../share/firesteel/glimmer/model"_s, u"../../../resources/glimmer/model"_s }) {
        const QString candidate = QDir::cleanPath(programFolder + u'/' + folder);
        if (QFileInfo::exists(candidate + u"/config.json"_s)) {
            location.directory = toPath(candidate);
            return withDrafter(std::move(location));
        }
        location.searched << candidate;
    }
    return location;
}

} // namespace firesteel::app
