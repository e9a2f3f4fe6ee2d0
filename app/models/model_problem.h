// SPDX-License-Identifier: MIT
//
// What can stand between a person and a model: the kinds that the hub, the network, the disk and
// a licence give, each with words and with what to do about it. Made by the classes of app/models;
// shown on the page of models and printed by the headless download.
#pragma once

#include <QString>

#include <chrono>
#include <expected>

namespace firesteel::app {

struct ModelProblem
{
    enum class Kind {
        None,
        // Pass by themselves; tried again.
        Offline, // no connection, or it broke
        TimedOut, // nothing arrived for too long
        RateLimited,
        ServerBusy,
        RangeIgnored, // a range was asked for and something else came
        // Need a person.
        TokenNeeded,
        TokenInvalid,
        TokenLacksScope,
        TermsNotAccepted, // on the model's page at the hub
        ApprovalPending,
        ApprovalRefused,
        RepositoryNotFound, // or private: the hub does not say which
        RevisionNotFound,
        FileNotFound,
        TakenDown,
        Refused, // any other 4xx
        BadAnswer, // not what the protocol says
        InsecureRedirect, // from https to something else
        ContentMismatch, // bytes differ from the published digest, twice
        WrongWeights, // the revision's weights are not those the catalogue pins
        LicenseChanged, // not what was accepted
        ConsentNeeded,
        DiskFull,
        DiskFailed,
        FolderNotWritable,
        NotAModel, // a folder without config.json and weights
    };

    Kind kind = Kind::None;
    QString detail; // names the file, host or number; may be empty
    std::chrono::seconds retryAfter { 0 }; // what the server asked for; 0: nothing
};

template <typename T> using ModelResult = std::expected<T, ModelProblem>;

inline std::unexpected<ModelProblem> problem(ModelProblem::Kind kind, QString detail = {})
{
    return std::unexpected(ModelProblem { kind, std::move(detail), {} });
}

// Whether trying again without a person can help.
bool isTransient(ModelProblem::Kind kind);

// One sentence for a person; the detail is not in it.
QString problemText(ModelProblem::Kind kind);

// What helps: "retry", "token", "page" (the model's page at the hub), "license", or empty.
QString problemAction(ModelProblem::Kind kind);

} // namespace firesteel::app
