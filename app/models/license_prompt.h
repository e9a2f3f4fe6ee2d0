// SPDX-License-Identifier: MIT
//
// What the licence dialog shows: loading, the terms of one model, or why they cannot be had. View
// state in C++, so that QML has nothing to put together. Filled by ModelsController.
#pragma once

#include "app/models/model_status.h"
#include "app/models/terms_inquiry.h"

#include <QObject>
#include <QStringList>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <optional>

namespace firesteel::app {

class LicensePrompt : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ModelsController owns the prompt")
    Q_PROPERTY(State state READ state NOTIFY changed FINAL)
    Q_PROPERTY(QString modelName READ modelName NOTIFY changed FINAL)
    Q_PROPERTY(QString origin READ origin NOTIFY changed FINAL) // creator, repository and revision
    Q_PROPERTY(QString licenseName READ licenseName NOTIFY changed FINAL)
    Q_PROPERTY(QUrl licenseUrl READ licenseUrl NOTIFY changed FINAL)
    Q_PROPERTY(QStringList allowed READ allowed NOTIFY changed FINAL)
    Q_PROPERTY(QStringList required READ required NOTIFY changed FINAL)
    Q_PROPERTY(QStringList forbidden READ forbidden NOTIFY changed FINAL)
    Q_PROPERTY(
        QString note READ note NOTIFY changed FINAL) // of the drafter: that it can be declined
    Q_PROPERTY(QString text READ text NOTIFY changed FINAL)
    Q_PROPERTY(
        QString source READ source NOTIFY changed FINAL) // where the text is from, its SHA-256
    Q_PROPERTY(QString problem READ problem NOTIFY changed FINAL)
    Q_PROPERTY(bool acceptable READ isAcceptable NOTIFY changed FINAL)
    Q_PROPERTY(bool accepted READ isAccepted NOTIFY changed FINAL) // this very text, before
    Q_PROPERTY(bool downloads READ isDownloading NOTIFY changed FINAL) // what accepting begins

public:
    enum class State { Closed, Loading, Shown, Failed };
    Q_ENUM(State)

    using QObject::QObject;

    void begin(const ModelStatus &status);
    void show(const LicenseTerms &terms);
    void fail(const ModelProblem &problem);
    void close();
    bool isFor(const QString &repository, const QString &revision) const;
    const std::optional<LicenseTerms> &terms() const { return m_terms; }
    const ModelStatus &model() const { return m_status; }

    State state() const { return m_state; }
    QString modelName() const { return m_status.model.name; }
    QString origin() const;
    QString licenseName() const;
    QUrl licenseUrl() const;
    QStringList allowed() const;
    QStringList required() const;
    QStringList forbidden() const;
    QString note() const;
    QString text() const;
    QString source() const;
    QString problem() const;
    bool isAcceptable() const { return m_state == State::Shown && !text().isEmpty(); }
    bool isAccepted() const;
    bool isDownloading() const;

Q_SIGNALS:
    void changed();

private:
    const License *license() const; // of the terms, else the catalogue's; may be nullptr

    State m_state = State::Closed;
    ModelStatus m_status;
    std::optional<LicenseTerms> m_terms;
    std::optional<ModelProblem> m_problem;
};

} // namespace firesteel::app
