// SPDX-License-Identifier: MIT
#include "app/remote/chat_stream.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>

#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// More than any model calls in one turn; an index beyond it is nonsense.
constexpr int kMostCalls = 128;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(RemoteEngine)
};

std::unexpected<engine::Error> broken(const QString &what)
{
    return engine::fail(engine::ErrorCode::BadRequest, what.toStdString());
}

std::string textOf(const QJsonValue &value) { return value.toString().toStdString(); }

engine::Usage usageOf(const QJsonObject &usage)
{
    engine::Usage counts;
    counts.promptTokens = usage["prompt_tokens"_L1].toInt();
    counts.completionTokens = usage["completion_tokens"_L1].toInt();
    counts.cachedTokens = usage["prompt_tokens_details"_L1].toObject()["cached_tokens"_L1].toInt();
    // SGLang has it beside the other counts.
    counts.reasoningTokens
        = usage["completion_tokens_details"_L1].toObject()["reasoning_tokens"_L1].toInt(
            usage["reasoning_tokens"_L1].toInt());
    return counts;
}

} // namespace

QString remoteErrorMessage(const QJsonObject &answer)
{
    const QJsonValue error = answer["error"_L1];
    if (error.isObject())
        return error.toObject()["message"_L1].toString();
    if (error.isString())
        return error.toString();
    if (answer["message"_L1].isString())
        return answer["message"_L1].toString();
    const QJsonValue detail = answer["detail"_L1];
    if (detail.isArray())
        return detail.toArray().first().toObject()["msg"_L1].toString();
    return detail.toString();
}

engine::Result<ChatDelta> ChatStream::read(const QByteArray &data)
{
    if (data.trimmed() == "[DONE]") {
        m_isDone = true;
        return ChatDelta {};
    }
    QJsonParseError problem;
    const QJsonDocument document = QJsonDocument::fromJson(data, &problem);
    if (!document.isObject()) {
        return broken(problem.error == QJsonParseError::NoError
                          ? Words::tr("An event of the answer is no JSON object.")
                          : Words::tr("An event of the answer is no JSON: %1, byte %2.")
                                .arg(problem.errorString(), QString::number(problem.offset)));
    }
    const QJsonObject event = document.object();
    const bool isError = !event["error"_L1].isUndefined() && !event["error"_L1].isNull();
    if (isError || event["object"_L1].toString() == "error"_L1) {
        const QString message = remoteErrorMessage(event);
        return broken(message.isEmpty() ? Words::tr("It gave no reason.") : message);
    }
    if (event["usage"_L1].isObject())
        m_usage = usageOf(event["usage"_L1].toObject());

    const QJsonArray choices = event["choices"_L1].toArray();
    if (choices.isEmpty())
        return ChatDelta {}; // the usage comes in one without choices
    const QJsonObject choice = choices.first().toObject();
    if (choice["finish_reason"_L1].isString())
        m_finish = choice["finish_reason"_L1].toString();
    const QJsonObject delta = choice["delta"_L1].toObject();
    if (auto added = addCalls(delta["tool_calls"_L1].toArray()); !added)
        return std::unexpected(std::move(added).error());
    ChatDelta pieces;
    // A server that sends both names says the same under each.
    pieces.thinking = textOf(delta["reasoning_content"_L1]);
    if (pieces.thinking.empty())
        pieces.thinking = textOf(delta["reasoning"_L1]);
    pieces.text = textOf(delta["content"_L1]);
    return pieces;
}

engine::Result<void> ChatStream::addCalls(const QJsonArray &fragments)
{
    for (const auto &value : fragments) {
        const QJsonObject fragment = value.toObject();
        // Without an index it is whole.
        const int index = fragment["index"_L1].toInt(static_cast<int>(m_calls.size()));
        if (index < 0 || index >= kMostCalls)
            return broken(Words::tr("A tool call has the index %1.").arg(index));
        if (static_cast<std::size_t>(index) >= m_calls.size())
            m_calls.resize(static_cast<std::size_t>(index) + 1, { {}, {}, {} });
        engine::ToolCall &call = m_calls[static_cast<std::size_t>(index)];
        const QJsonObject function = fragment["function"_L1].toObject();
        if (call.id.empty())
            call.id = textOf(fragment["id"_L1]);
        if (call.name.empty()) // some repeat the name with every fragment
            call.name = textOf(function["name"_L1]);
        call.argumentsJson += textOf(function["arguments"_L1]);
    }
    return {};
}

engine::FinishReason ChatStream::finishReason() const
{
    if (m_finish == "length"_L1)
        return engine::FinishReason::Length;
    if (m_finish == "tool_calls"_L1 || m_finish == "function_call"_L1)
        return engine::FinishReason::ToolCalls;
    if (m_finish == "repetition"_L1)
        return engine::FinishReason::Repetition;
    return engine::FinishReason::Stop;
}

} // namespace firesteel::app
