// SPDX-License-Identifier: MIT
#include "app/chat/statistics_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Statistics)
};

} // namespace

QString statisticsText(const engine::Finished &finished)
{
    const QLocale locale;
    QStringList parts;
    if (finished.reason == engine::FinishReason::Cancelled)
        parts << Words::tr("Stopped");
    else if (finished.reason == engine::FinishReason::Length)
        parts << Words::tr("Cut off: the context is full");
    else if (finished.reason == engine::FinishReason::Repetition)
        parts << Words::tr("Stopped: it repeated itself");

    const int tokens = finished.usage.completionTokens;
    // The first token's time belongs to the prefill: n tokens are n - 1 decode steps.
    if (tokens > 1 && finished.timings.decodeSeconds > 0) {
        const double rate = (tokens - 1) / finished.timings.decodeSeconds;
        parts << Words::tr("%1 tok/s").arg(locale.toString(rate, 'f', 1));
    }
    if (tokens > 0) {
        const double first = finished.timings.timeToFirstTokenSeconds;
        parts << Words::tr("%1 s to first token")
                     .arg(locale.toString(first, 'f', first < 10 ? 1 : 0));
        parts << (tokens == 1 ? Words::tr("1 token")
                              : Words::tr("%1 tokens").arg(locale.toString(tokens)));
    }
    const engine::DraftCounts &drafting = finished.drafting;
    if (drafting.drafted > 0) {
        const double perStep = static_cast<double>(drafting.accepted) / drafting.steps;
        //: Guesses that were right, in a step of the model.
        parts << Words::tr("%1 accepted per step").arg(locale.toString(perStep, 'f', 1));
    }
    return parts.join(u" · "_s);
}

QString errorAction(engine::ErrorCode code)
{
    switch (code) {
    case engine::ErrorCode::ContextExceeded:
        return u"newConversation"_s;
    case engine::ErrorCode::NotLoaded:
    case engine::ErrorCode::Internal:
    case engine::ErrorCode::NotFound:
    case engine::ErrorCode::Io:
    case engine::ErrorCode::BadCheckpoint:
    case engine::ErrorCode::UnsupportedModel:
    case engine::ErrorCode::OutOfMemory:
        return u"reloadModel"_s;
    case engine::ErrorCode::Cancelled:
    case engine::ErrorCode::BadRequest:
    case engine::ErrorCode::QueueFull:
        break;
    }
    return u"retry"_s;
}

QString errorText(const engine::Error &error)
{
    const QString message = QString::fromStdString(error.message);
    switch (error.code) {
    case engine::ErrorCode::ContextExceeded:
        return Words::tr("This conversation no longer fits into the context. %1").arg(message);
    case engine::ErrorCode::QueueFull:
        return Words::tr("Too many requests are waiting. Try again in a moment. %1").arg(message);
    case engine::ErrorCode::NotLoaded:
        return Words::tr("No model is loaded. %1").arg(message);
    case engine::ErrorCode::Internal:
        return Words::tr("The engine stopped working and must load the model again. %1")
            .arg(message);
    default:
        break;
    }
    return Words::tr("The answer could not be made. %1").arg(message);
}

} // namespace firesteel::app
