// SPDX-License-Identifier: MIT
#include "app/models/model_problem.h"

#include <QCoreApplication>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(ModelProblem)
};

} // namespace

bool isTransient(Kind kind)
{
    switch (kind) {
    case Kind::Offline:
    case Kind::TimedOut:
    case Kind::RateLimited:
    case Kind::ServerBusy:
    case Kind::RangeIgnored:
        return true;
    default:
        return false;
    }
}

QString problemText(Kind kind)
{
    switch (kind) {
    case Kind::None:
        return {};
    case Kind::Offline:
        return Words::tr("The connection broke.");
    case Kind::TimedOut:
        return Words::tr("The server stopped sending.");
    case Kind::RateLimited:
        return Words::tr("The server asks for a pause: too many requests.");
    case Kind::ServerBusy:
        return Words::tr("The server cannot answer at the moment.");
    case Kind::RangeIgnored:
        return Words::tr("The server sent a different part than asked for.");
    case Kind::TokenNeeded:
        return Words::tr("The hub wants to know who you are: add an access token.");
    case Kind::TokenInvalid:
        return Words::tr("The hub does not accept the access token.");
    case Kind::TokenLacksScope:
        return Words::tr("The access token may not read gated repositories. Change that in its "
                         "settings at the hub, or use another.");
    case Kind::TermsNotAccepted:
        return Words::tr("The author asks you to accept terms on the model's page first, logged "
                         "in with the account of your token.");
    case Kind::ApprovalPending:
        return Words::tr("You asked the author for access; they have not answered yet.");
    case Kind::ApprovalRefused:
        return Words::tr("The author refused access to this model.");
    case Kind::RepositoryNotFound:
        return Words::tr("The repository does not exist, or it is private.");
    case Kind::RevisionNotFound:
        return Words::tr("The repository no longer has this revision.");
    case Kind::FileNotFound:
        return Words::tr("A file of the model is missing on the server.");
    case Kind::TakenDown:
        return Words::tr("The hub has taken this model down.");
    case Kind::Refused:
        return Words::tr("The server refused the request.");
    case Kind::BadAnswer:
        return Words::tr("The server's answer makes no sense.");
    case Kind::InsecureRedirect:
        return Words::tr("The server points to an address without encryption.");
    case Kind::ContentMismatch:
        return Words::tr("What arrived is not what was published, twice in a row.");
    case Kind::WrongWeights:
        return Words::tr("These are other weights under the same name.");
    case Kind::LicenseChanged:
        return Words::tr("The licence is not the one you accepted.");
    case Kind::ConsentNeeded:
        return Words::tr("Read and accept the licence first.");
    case Kind::DiskFull:
        return Words::tr("There is not enough space on the disk. What has arrived is kept.");
    case Kind::DiskFailed:
        return Words::tr("The disk refused to read or write.");
    case Kind::FolderNotWritable:
        return Words::tr("Firesteel cannot write into this folder. Models stay where they are.");
    case Kind::NotAModel:
        break;
    }
    return Words::tr("This folder holds no model.");
}

QString problemAction(Kind kind)
{
    switch (kind) {
    case Kind::None:
    case Kind::ApprovalRefused:
    case Kind::RepositoryNotFound:
    case Kind::RevisionNotFound:
    case Kind::TakenDown:
    case Kind::WrongWeights:
    case Kind::FolderNotWritable:
    case Kind::NotAModel:
        return {};
    case Kind::TokenNeeded:
    case Kind::TokenInvalid:
    case Kind::TokenLacksScope:
        return u"token"_s;
    case Kind::TermsNotAccepted:
        return u"page"_s;
    case Kind::LicenseChanged:
    case Kind::ConsentNeeded:
        return u"license"_s;
    default:
        return u"retry"_s;
    }
}

} // namespace firesteel::app
