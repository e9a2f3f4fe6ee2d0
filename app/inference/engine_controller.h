// SPDX-License-Identifier: MIT
//
// The only place where Qt and the engine meet. It loads the model, prepares and submits requests on
// workers, and brings their events to the GUI thread, drained once per frame. Application owns it;
// ConversationController asks it for answers; QML reads its properties. It knows nothing of
// messages on screen.
#pragma once

#include "app/inference/event_buffer.h"
#include "app/inference/generation.h"
#include "engine/api/engine.h"

#include <QElapsedTimer>
#include <QFuture>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

// Where the model is, or where it was looked for in vain.
struct ModelLocation
{
    std::filesystem::path directory; // empty: none found
    QStringList searched; // one entry a place, for a person
    std::filesystem::path drafter = {}; // that goes with it; empty: none
};

struct EngineSetup
{
    std::function<ModelLocation()> findModel; // called on a worker, again at each retry
    engine::LoadOptions load = {}; // its folder is found by findModel
};

class EngineController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Application owns the engine controller")
    Q_PROPERTY(State state READ state NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString stateText READ stateText NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString loadStage READ loadStage NOTIFY loadProgressed FINAL)
    Q_PROPERTY(double loadFraction READ loadFraction NOTIFY loadProgressed FINAL)
    Q_PROPERTY(QString errorText READ errorText NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString modelName READ modelName NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString backendText READ backendText NOTIFY stateChanged FINAL)
    Q_PROPERTY(QString drafterName READ drafterName NOTIFY stateChanged FINAL) // empty: none
    // A drafter came that the loaded model could use; it does from the next load on.
    Q_PROPERTY(bool drafterWaiting READ isDrafterWaiting NOTIFY drafterWaitingChanged FINAL)
    Q_PROPERTY(bool drafterOffered READ isDrafterOffered NOTIFY drafterWaitingChanged FINAL)
    Q_PROPERTY(QString backendNote READ backendNote NOTIFY stateChanged FINAL)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY stateChanged FINAL)
    Q_PROPERTY(int usedTokens READ usedTokens NOTIFY statsChanged FINAL)
    Q_PROPERTY(double decodeTokensPerSecond READ decodeTokensPerSecond NOTIFY statsChanged FINAL)
    Q_PROPERTY(double prefillTokensPerSecond READ prefillTokensPerSecond NOTIFY statsChanged FINAL)
    Q_PROPERTY(int waitingRequests READ waitingRequests NOTIFY statsChanged FINAL)
    Q_PROPERTY(int runningRequests READ runningRequests NOTIFY statsChanged FINAL)

public:
    // Unloaded: a person, or the program out of caution, chose to have no model; retry() loads it.
    enum class State { Looking, NoModel, Loading, Ready, Failed, Unloaded };
    Q_ENUM(State)

    // The engine must outlive the controller.
    EngineController(engine::Engine &engine, EngineSetup setup, QObject *parent = nullptr);
    ~EngineController() override;

    // Looks for the model and loads it; also after a failure or when a model was added since.
    Q_INVOKABLE void retry();
    // Loads the model in this folder from now on, in place of whatever is loaded or loading. Empty:
    // the one that is found without being told.
    void use(const QString &folder);
    // From now on retry() loads this one; what is loaded or loading stays.
    void choose(const QString &folder);
    // Ends a load that goes on, or gives back the memory of the loaded model; requests end.
    Q_INVOKABLE void unload();
    // As if unloaded, with a reason for a person.
    void hold(const QString &reason);

    // For the next load; the folder in them does not count.
    void setLoadOptions(const engine::LoadOptions &options);
    // What the model that is loaded or loading was asked for; with a folder once there was one.
    const engine::LoadOptions &loadedWith() const { return m_loadedWith; }
    // A drafter that may be used with models that have none beside them; empty: none. It is left
    // out where it does not go with the model, or not into memory beside it. One that comes while
    // such a model is loaded waits for a reload. One that is taken away while it is loaded goes at
    // once: the model is loaded again without it.
    void setDrafter(const QString &folder);
    // The model in use, with the options and the drafter set since.
    Q_INVOKABLE void reload();
    Q_INVOKABLE void putOffDrafter(); // it waits, and is not offered any more

    // What a load of the model in use would need, found out on a worker. Errors: those of
    // engine::Engine::estimate; NotLoaded where no model was found yet.
    QFuture<engine::Result<engine::LoadEstimate>> estimate(engine::LoadOptions options);

    // Renders, tokenises and submits on a worker. Failures arrive as an update like any other.
    std::unique_ptr<Generation> generate(std::vector<engine::Message> messages,
                                         RequestOptions options);
    // The same as a measurement: greedy, whatever the model's defaults are, and this long at most.
    std::unique_ptr<Generation> measure(std::vector<engine::Message> messages,
                                        engine::PromptOptions options, int maxTokens);

    // Tokens of a text, counted on a worker; -1 without a model.
    QFuture<int> countTokens(const QString &text);

    State state() const { return m_state; }
    QString stateText() const;
    QString loadStage() const { return m_loadStage; }
    double loadFraction() const { return m_loadFraction; }
    QString errorText() const { return m_errorText; }
    QString modelName() const { return QString::fromStdString(m_model.name); }
    const std::string &vocabulary() const { return m_model.vocabulary; } // of that model
    QString backendText() const { return QString::fromStdString(m_model.backend); }
    QString drafterName() const { return QString::fromStdString(m_model.drafter); }
    bool isDrafterWaiting() const;
    bool isDrafterOffered() const { return isDrafterWaiting() && !m_isDrafterPutOff; }
    QString backendNote() const { return QString::fromStdString(m_model.backendNote); }
    int contextTokens() const { return m_model.contextTokens; }
    const engine::SamplingParams &samplingDefaults() const { return m_model.samplingDefaults; }
    int usedTokens() const { return m_stats.usedTokens; }
    double decodeTokensPerSecond() const { return m_stats.decodeTokensPerSecond; }
    double prefillTokensPerSecond() const { return m_stats.prefillTokensPerSecond; }
    // Tokens per second, of the longest prompt that this window has had read since the load; unset:
    // none was long enough to tell.
    std::optional<double> readingSpeed() const { return m_readingSpeed; }
    int waitingRequests() const { return m_stats.waitingRequests; }
    int runningRequests() const { return m_stats.runningRequests; }

Q_SIGNALS:
    void stateChanged();
    void loadProgressed();
    void statsChanged();
    void drafterWaitingChanged();

private:
    void setState(State state, const QString &errorText = {});
    void look();
    void considerDrafter();
    void loadFrom(const ModelLocation &location);
    void scheduleDrain();
    void drain();
    void onLoadEvent(const engine::LoadEvent &event);
    void noteReadingSpeed(const engine::Finished &finished);
    void deliver(GenerationToken token, const GenerationUpdate &update);
    void refreshStats();

    engine::Engine &m_engine;
    EngineSetup m_setup;
    std::function<ModelLocation()> m_findChosen; // instead of m_setup.findModel; may be empty
    std::filesystem::path m_drafter; // of setDrafter()
    std::filesystem::path m_fittingDrafter; // that goes with the loaded model
    bool m_isDrafterPutOff = false;
    engine::LoadOptions m_loadedWith;
    std::shared_ptr<EventBuffer> m_buffer;
    State m_state = State::Looking;
    QString m_loadStage;
    double m_loadFraction = 0.0;
    QString m_errorText;
    engine::ModelInfo m_model;
    engine::EngineStats m_stats;
    std::optional<double> m_readingSpeed;
    int m_readTokens = 0; // that it was measured on
    std::uint64_t m_load = 0; // number of the newest load
    GenerationToken m_lastToken = 0;
    std::map<GenerationToken, QPointer<Generation>> m_generations; // that have not ended
    QElapsedTimer m_sinceDrain;
    QTimer m_drainTimer;
    QTimer m_statsTimer;
    QThreadPool m_workers; // last: waits for its tasks before anything they use goes
};

} // namespace firesteel::app
