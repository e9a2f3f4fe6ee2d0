// SPDX-License-Identifier: MIT
#include "app/remote/remote_protocol.h"

#include "app/remote/chat_stream.h"

#include <QCoreApplication>
#include <QHostAddress>
#include <QJsonArray>
#include <QJsonDocument>

#include <array>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// Of a server's own words; a page of HTML is no sentence.
constexpr qsizetype kLongestReason = 400;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RemoteEngine)
};

QUrl under(const QUrl &base, QLatin1StringView path)
{
    QUrl url = base;
    url.setPath(base.path() + path);
    return url;
}

QString contentOf(const engine::Message &message)
{
    std::string text;
    for (const engine::ContentPart &part : message.content)
        text += part.text;
    return QString::fromStdString(text);
}

QJsonObject messageJson(const engine::Message &message, bool keepsThinking)
{
    QJsonObject json { { "content"_L1, contentOf(message) } };
    switch (message.role) {
    case engine::Role::System:
        json["role"_L1] = "system"_L1;
        break;
    case engine::Role::Assistant:
        json["role"_L1] = "assistant"_L1;
        if (keepsThinking && message.reasoning)
            json["reasoning_content"_L1] = QString::fromStdString(*message.reasoning);
        break;
    case engine::Role::Tool:
    case engine::Role::User:
        json["role"_L1] = "user"_L1;
        break;
    }
    return json;
}

// The servers check reasoning_effort against a list that has no "max"; the template has.
void setThinking(QJsonObject &body, const QString &effort)
{
    QJsonObject variables { { "enable_thinking"_L1, effort != "off"_L1 } };
    if (effort == "max"_L1)
        variables["reasoning_effort"_L1] = effort;
    else if (effort != "off"_L1)
        body["reasoning_effort"_L1] = effort;
    body["chat_template_kwargs"_L1] = variables;
}

} // namespace

std::optional<QUrl> remoteBase(const QString &typed)
{
    const QString text = typed.trimmed();
    QUrl url(text.contains("://"_L1) ? text : u"http://"_s + text, QUrl::StrictMode);
    const bool isWeb = url.scheme() == "http"_L1 || url.scheme() == "https"_L1;
    if (text.isEmpty() || !url.isValid() || !isWeb || url.host().isEmpty()
        || !url.userInfo().isEmpty() || url.hasQuery() || url.hasFragment())
        return std::nullopt;
    QString path = url.path();
    const auto dropSlashes = [&path] {
        while (path.endsWith(u'/'))
            path.chop(1);
    };
    dropSlashes();
    if (path.endsWith("/v1"_L1)) {
        path.chop(3);
        dropSlashes();
    }
    url.setPath(path);
    return url;
}

QUrl chatUrl(const QUrl &base) { return under(base, "/v1/chat/completions"_L1); }

QUrl modelsUrl(const QUrl &base) { return under(base, "/v1/models"_L1); }

QUrl metricsUrl(const QUrl &base)
{
    QUrl url = base;
    url.setPath(u"/metrics"_s);
    return url;
}

bool isLoopback(const QUrl &base)
{
    return base.host() == "localhost"_L1 || QHostAddress(base.host()).isLoopback();
}

QString unencryptedNotice(const QUrl &base)
{
    if (base.scheme() != "http"_L1 || isLoopback(base))
        return {};
    return Words::tr("Chats and the key travel to %1 unencrypted: whoever is on the way can read "
                     "them. Use https or a tunnel where the network is not your own.")
        .arg(base.host());
}

QJsonObject chatBody(const QString &model, const std::vector<engine::Message> &messages,
                     const RequestSettings &settings)
{
    const engine::SamplingParams noModel;
    const bool keepsThinking
        = !effectiveValue(RequestParameter::ClearThinking, settings, noModel).toBool();
    QJsonArray turns;
    for (const engine::Message &message : messages)
        turns.append(messageJson(message, keepsThinking));
    QJsonObject body { { "model"_L1, model },
                       { "messages"_L1, turns },
                       { "stream"_L1, true },
                       { "stream_options"_L1, QJsonObject { { "include_usage"_L1, true } } } };
    const std::array<std::pair<RequestParameter, QLatin1StringView>, 7> numbers { {
        { RequestParameter::Temperature, "temperature"_L1 },
        { RequestParameter::TopP, "top_p"_L1 },
        { RequestParameter::TopK, "top_k"_L1 },
        { RequestParameter::MinP, "min_p"_L1 },
        { RequestParameter::RepetitionPenalty, "repetition_penalty"_L1 },
        { RequestParameter::PresencePenalty, "presence_penalty"_L1 },
        { RequestParameter::FrequencyPenalty, "frequency_penalty"_L1 },
    } };
    for (const auto &[parameter, field] : numbers) {
        if (settings.has(parameter))
            body[field] = settings.value(parameter);
    }
    if (const qint64 seed = settings.value(RequestParameter::Seed).toInteger(kRandomSeed);
        seed != kRandomSeed)
        body["seed"_L1] = seed;
    if (const int most = settings.value(RequestParameter::MaxTokens).toInt(kNoTokenLimit);
        most != kNoTokenLimit)
        body["max_tokens"_L1] = most;
    if (const QJsonArray stop = settings.value(RequestParameter::Stop).toArray(); !stop.isEmpty())
        body["stop"_L1] = stop;
    setThinking(body, effectiveValue(RequestParameter::Thinking, settings, noModel).toString());
    return body;
}

engine::Result<QStringList> modelIds(const QByteArray &answer)
{
    const QJsonDocument document = QJsonDocument::fromJson(answer);
    const QJsonValue models = document.object()["data"_L1];
    if (!models.isArray()) {
        return engine::fail(engine::ErrorCode::BadRequest,
                            Words::tr("The answer is no list of models. Is this the address of an "
                                      "OpenAI-compatible server?")
                                .toStdString());
    }
    QStringList ids;
    for (const auto &model : models.toArray()) {
        const QString id = model.toObject()["id"_L1].toString();
        if (!id.isEmpty())
            ids << id;
    }
    return ids;
}

engine::Error statusError(const QUrl &url, int status, const QByteArray &answer)
{
    const QString where = url.authority();
    const QJsonObject json = QJsonDocument::fromJson(answer).object();
    const QString reason = remoteErrorMessage(json).simplified().left(kLongestReason);
    QString words;
    auto code = engine::ErrorCode::BadRequest;
    switch (status) {
    case 401:
    case 403:
        words = Words::tr("%1 refused the key (%2).").arg(where).arg(status);
        break;
    case 404:
        words = Words::tr("%1 has nothing at %2, or not this model (404).").arg(where, url.path());
        break;
    case 429:
        words = Words::tr("%1 has too many requests (429).").arg(where);
        code = engine::ErrorCode::QueueFull;
        break;
    case 503:
        words = Words::tr("%1 is not ready (503).").arg(where);
        break;
    default:
        words = status >= 300 && status < 400
            ? Words::tr(
                  "%1 points to another address (%2), which is not followed: the key would go "
                  "there. Give the other address itself.")
                  .arg(where)
                  .arg(status)
            : Words::tr("%1 answered with the status %2.").arg(where).arg(status);
    }
    if (json["error"_L1].toObject()["code"_L1].toString() == "context_length_exceeded"_L1)
        code = engine::ErrorCode::ContextExceeded;
    if (!reason.isEmpty())
        words += u' ' + Words::tr("It says: %1").arg(reason);
    return { code, words.toStdString() };
}

} // namespace firesteel::app
