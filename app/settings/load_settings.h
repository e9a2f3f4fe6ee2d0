// SPDX-License-Identifier: MIT
//
// How the model is loaded, as it is being edited: context, memory reserve, threads, with what they
// need of memory while they are typed. Nothing takes effect before apply(); a chat outlives the
// reload. The figures are the engine's own estimate for the model in use. Owned by Application.
#pragma once

#include "app/inference/engine_controller.h"
#include "app/settings/app_settings.h"
#include "engine/api/engine.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

#include <optional>

namespace firesteel::app {

class LoadSettings : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the settings")
    // 0: the longest that the model allows and memory holds.
    Q_PROPERTY(int contextTokens READ contextTokens WRITE setContextTokens NOTIFY edited FINAL)
    Q_PROPERTY(
        double reserveGibibytes READ reserveGibibytes WRITE setReserveGibibytes NOTIFY edited FINAL)
    Q_PROPERTY(int threads READ threads WRITE setThreads NOTIFY edited FINAL) // 0: one a core
    // Answers at the same time; 0: as memory allows.
    Q_PROPERTY(int sequences READ sequences WRITE setSequences NOTIFY edited FINAL)
    Q_PROPERTY(bool changed READ isChanged NOTIFY edited FINAL) // against what is stored
    Q_PROPERTY(bool waiting READ isWaiting NOTIFY edited FINAL) // stored, not yet in effect
    // Not while it is refused, nor before that is known.
    Q_PROPERTY(bool canApply READ canApply NOTIFY estimated FINAL)

    Q_PROPERTY(int longestContext READ longestContext NOTIFY estimated FINAL)
    // The rest is empty or 0 until there is an estimate.
    Q_PROPERTY(int estimatedContext READ estimatedContext NOTIFY estimated FINAL)
    Q_PROPERTY(int estimatedSequences READ estimatedSequences NOTIFY estimated FINAL)
    Q_PROPERTY(QString needText READ needText NOTIFY estimated FINAL)
    Q_PROPERTY(QString freeText READ freeText NOTIFY estimated FINAL)
    Q_PROPERTY(QString refusal READ refusal NOTIFY estimated FINAL) // empty: it fits
    // Shares of the available memory, 0 to 1.
    Q_PROPERTY(double weightShare READ weightShare NOTIFY estimated FINAL)
    Q_PROPERTY(double stateShare READ stateShare NOTIFY estimated FINAL)
    Q_PROPERTY(double reserveShare READ reserveShare NOTIFY estimated FINAL)

public:
    static constexpr int kLeastContext = 256;

    // Both must outlive this.
    LoadSettings(AppSettings &settings, EngineController &engine, QObject *parent = nullptr);

    int contextTokens() const { return m_draft.contextTokens; }
    void setContextTokens(int tokens);
    double reserveGibibytes() const;
    void setReserveGibibytes(double gibibytes);
    int threads() const { return m_draft.threads; }
    void setThreads(int threads);
    int sequences() const { return m_draft.sequences; }
    void setSequences(int sequences);
    // From an input field: what is no number changes nothing. Returns whether it was taken.
    Q_INVOKABLE bool setContextText(const QString &text);
    Q_INVOKABLE bool setReserveText(const QString &text);
    Q_INVOKABLE bool setThreadsText(const QString &text);
    Q_INVOKABLE bool setSequencesText(const QString &text);

    bool isChanged() const;
    bool isWaiting() const;
    bool canApply() const;
    Q_INVOKABLE void applyNow(); // stores, and loads the model again
    Q_INVOKABLE void applyAtNextStart(); // stores
    Q_INVOKABLE void discard();
    Q_INVOKABLE void refresh(); // memory is taken and freed by others meanwhile

    int longestContext() const;
    int estimatedContext() const { return m_estimate ? m_estimate->contextTokens : 0; }
    int estimatedSequences() const { return m_estimate ? m_estimate->sequences : 0; }
    QString needText() const;
    QString freeText() const;
    QString refusal() const { return m_refusal; }
    double weightShare() const;
    double stateShare() const;
    double reserveShare() const;

Q_SIGNALS:
    void edited();
    void estimated();

private:
    void setDraft(const engine::LoadOptions &draft);
    void onEstimate(const engine::Result<engine::LoadEstimate> &estimate);
    double shareOf(std::uint64_t bytes) const;

    AppSettings &m_settings;
    EngineController &m_engine;
    engine::LoadOptions m_draft;
    std::optional<engine::LoadEstimate> m_estimate; // of the draft, or of one shortly before
    QString m_refusal;
    bool m_isEstimating = false;
    bool m_isOutdated = false; // while estimating: another one was asked for
    bool m_isOfDraft = true; // the estimate is; without a model, there is nothing to wait for
};

} // namespace firesteel::app
