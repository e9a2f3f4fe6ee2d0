// SPDX-License-Identifier: MIT
#include "app/store/record_json.h"

#include <QJsonValue>
#include <QtEndian>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

QString text(std::string_view utf8) { return QString::fromUtf8(utf8); }

} // namespace

QJsonObject statisticsJson(const ReplyStatistics &statistics)
{
    const engine::Usage &usage = statistics.usage;
    const engine::Timings &timings = statistics.timings;
    return {
        { u"promptTokens"_s, usage.promptTokens },
        { u"cachedTokens"_s, usage.cachedTokens },
        { u"completionTokens"_s, usage.completionTokens },
        { u"reasoningTokens"_s, usage.reasoningTokens },
        { u"queueSeconds"_s, timings.queueSeconds },
        { u"prefillSeconds"_s, timings.prefillSeconds },
        { u"timeToFirstTokenSeconds"_s, timings.timeToFirstTokenSeconds },
        { u"decodeSeconds"_s, timings.decodeSeconds },
        { u"thinkingSeconds"_s, statistics.thinkingSeconds },
    };
}

ReplyStatistics statisticsFrom(const QJsonObject &json)
{
    ReplyStatistics statistics;
    statistics.usage.promptTokens = json["promptTokens"_L1].toInt();
    statistics.usage.cachedTokens = json["cachedTokens"_L1].toInt();
    statistics.usage.completionTokens = json["completionTokens"_L1].toInt();
    statistics.usage.reasoningTokens = json["reasoningTokens"_L1].toInt();
    statistics.timings.queueSeconds = json["queueSeconds"_L1].toDouble();
    statistics.timings.prefillSeconds = json["prefillSeconds"_L1].toDouble();
    statistics.timings.timeToFirstTokenSeconds = json["timeToFirstTokenSeconds"_L1].toDouble();
    statistics.timings.decodeSeconds = json["decodeSeconds"_L1].toDouble();
    statistics.thinkingSeconds = json["thinkingSeconds"_L1].toDouble();
    return statistics;
}

QJsonObject errorJson(const engine::Error &error)
{
    return { { u"code"_s, text(engine::errorCodeName(error.code)) },
             { u"message"_s, text(error.message) } };
}

engine::Error errorFrom(const QJsonObject &json)
{
    // A code of a later version is shown by its message alone.
    const auto code = errorCodeNamed(json["code"_L1].toString().toStdString());
    return { code.value_or(engine::ErrorCode::BadRequest),
             json["message"_L1].toString().toStdString() };
}

QJsonArray toolCallsJson(std::span<const engine::ToolCall> calls)
{
    QJsonArray json;
    for (const engine::ToolCall &call : calls) {
        json.append(QJsonObject { { u"id"_s, text(call.id) },
                                  { u"name"_s, text(call.name) },
                                  // As text: key order and number spelling are the model's.
                                  { u"arguments"_s, text(call.argumentsJson) } });
    }
    return json;
}

std::vector<engine::ToolCall> toolCallsFrom(const QJsonArray &json)
{
    std::vector<engine::ToolCall> calls;
    for (const auto &value : json) {
        const QString name = value["name"_L1].toString();
        if (!name.isEmpty())
            calls.push_back({ value["id"_L1].toString().toStdString(), name.toStdString(),
                              value["arguments"_L1].toString(u"{}"_s).toStdString() });
    }
    return calls;
}

QByteArray tokenBytes(std::span<const std::int32_t> tokens)
{
    QByteArray bytes(static_cast<qsizetype>(tokens.size_bytes()), Qt::Uninitialized);
    qToLittleEndian<std::int32_t>(tokens.data(), static_cast<qsizetype>(tokens.size()),
                                  bytes.data());
    return bytes;
}

std::optional<std::vector<std::int32_t>> tokensFrom(const QByteArray &bytes)
{
    constexpr qsizetype kWidth = sizeof(std::int32_t);
    if (bytes.isNull() || bytes.size() % kWidth != 0)
        return std::nullopt;
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(bytes.size() / kWidth));
    qFromLittleEndian<std::int32_t>(bytes.constData(), bytes.size() / kWidth, tokens.data());
    return tokens;
}

} // namespace firesteel::app
