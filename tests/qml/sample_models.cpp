// SPDX-License-Identifier: MIT
#include "tests/qml/sample_models.h"

#include <QTimeZone>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using State = app::ModelStatus::State;
using Kind = app::ModelProblem::Kind;

namespace {

app::ModelStatus folder(const QString &path, State state)
{
    app::ModelStatus status;
    status.model.name = path.section(u'/', -1);
    status.folder = path;
    status.state = state;
    if (state == State::OtherWeights)
        status.model.role = app::ModelRole::Drafter;
    return status;
}

app::ModelStatus catalogued(const app::CatalogModel &model, const QString &state)
{
    app::ModelStatus status;
    status.model = model;
    status.totalBytes = model.bytes;
    if (state == "available"_L1)
        return status;
    status.folder = u"/models/"_s + model.id;
    status.consent = app::Consent { model.repository,
                                    model.revision,
                                    model.licenseId,
                                    QByteArray(64, 'a'),
                                    u"LICENSE"_s,
                                    u"0.1.0"_s,
                                    QDateTime(QDate(2026, 11, 30), QTime(9, 0), QTimeZone::UTC) };
    status.bytes = model.bytes * 48 / 100;
    if (state == "downloading"_L1) {
        status.state = State::Downloading;
        status.bytesPerSecond = 112e6;
    } else if (state == "waiting"_L1) {
        status.state = State::Waiting;
        status.problem = { Kind::Offline, u"huggingface.co"_s, {} };
        status.secondsToRetry = 42;
    } else if (state == "paused"_L1) {
        status.state = State::Paused;
    } else if (state == "gated"_L1) {
        status.state = State::Failed;
        status.problem = { Kind::TermsNotAccepted, {}, {} };
        status.bytes = 0;
    } else if (state == "full"_L1) {
        status.state = State::Failed;
        status.problem = { Kind::DiskFull, u"90.2 GB are needed, 71.4 GB are free in /"_s, {} };
    } else if (state == "ready"_L1) {
        status.state = State::Ready;
        status.bytes = model.bytes;
    } else {
        qFatal("no such state: %s", qPrintable(state));
    }
    return status;
}

} // namespace

void showModels(app::ModelsController &models, const QStringList &states)
{
    const auto &known = app::ModelCatalog::shipped().models();
    std::vector<app::ModelStatus> list;
    for (const QString &state : states) {
        if (state == "added"_L1)
            list.push_back(folder(u"/media/models/glm-5.3-flash-3.05bpw"_s, State::Added));
        else if (state == "other"_L1)
            list.push_back(folder(u"/media/models/DFlash2-August"_s, State::OtherWeights));
        else
            list.push_back(catalogued(known.at(list.size()), state));
    }
    models.list()->setModels(std::move(list));
}

void answerTerms(app::ModelsController &models, int row, bool isAsExpected)
{
    const app::ModelStatus *status = models.list()->at(row);
    const app::License *license = app::ModelCatalog::shipped().license(status->model.licenseId);
    app::LicenseTerms terms;
    terms.repository = status->model.repository;
    terms.revision = status->model.revision;
    terms.licenseId = license->id;
    terms.name = license->name;
    terms.url = license->url;
    terms.text = license->text;
    terms.textSha256 = license->textSha256;
    terms.isAsExpected = isAsExpected;
    terms.isRestricted = license->isRestricted;
    models.prompt()->show(terms);
}

} // namespace firesteel::test
