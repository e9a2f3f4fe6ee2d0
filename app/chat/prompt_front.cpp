// SPDX-License-Identifier: MIT
#include "app/chat/prompt_front.h"

#include <QCoreApplication>
#include <QLocale>

namespace firesteel::app {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(PromptFront)
};

QString costText(int tokens, std::optional<double> tokensPerSecond)
{
    const QLocale locale;
    const QString count = locale.toString(tokens);
    if (!tokensPerSecond || !(*tokensPerSecond > 0))
        return Words::tr("%1 tokens.").arg(count);
    const double seconds = tokens / *tokensPerSecond;
    if (seconds < 1)
        return Words::tr("%1 tokens, less than a second.").arg(count);
    return Words::tr("%1 tokens, about %2 s.").arg(count, locale.toString(seconds, 'f', 0));
}

} // namespace

PromptFront promptFront(const RequestSettings &settings)
{
    // What the model has for defaults concerns the sampling alone.
    return { requestOptions(settings, {}).prompt.effort, systemPromptOf(settings) };
}

QString rereadText(const PromptFront &read, const PromptFront &next, int tokens,
                   std::optional<double> tokensPerSecond)
{
    if (read == next)
        return {};
    const QString cost = tokens > 0 ? costText(tokens, tokensPerSecond) : QString();
    const QString words = read.effort != next.effort
        ? Words::tr("Thinking was changed: the whole chat is read again for the next answer. %1")
        : Words::tr("The system prompt was changed: the whole chat is read again for the next "
                    "answer. %1");
    return words.arg(cost).trimmed();
}

} // namespace firesteel::app
