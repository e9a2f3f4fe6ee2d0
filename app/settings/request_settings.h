// SPDX-License-Identifier: MIT
//
// Values that somebody chose for some of the parameters of an answer. A preset is one such set over
// the model's defaults, a chat's own choices are another over its preset. Every value is in range,
// whatever it was read from.
#pragma once

#include "app/inference/generation.h"
#include "app/settings/request_parameter.h"

#include <QJsonObject>
#include <QString>
#include <QStringList>

namespace firesteel::app {

class RequestSettings
{
public:
    // Members that are no parameter are kept: a later version wrote them. `notes` gets a line for a
    // person for each value that had to be changed or dropped.
    static RequestSettings fromJson(const QJsonObject &json, QStringList *notes = nullptr);
    const QJsonObject &json() const { return m_values; }

    bool isEmpty() const; // of parameters
    bool has(RequestParameter parameter) const;
    QJsonValue value(RequestParameter parameter) const; // undefined where has() is false
    void set(RequestParameter parameter, const QJsonValue &value); // ignored where it is unusable
    void reset(RequestParameter parameter);

    // These values, and those of `base` where there is none.
    RequestSettings over(const RequestSettings &base) const;

    bool operator==(const RequestSettings &) const = default;

private:
    QJsonObject m_values;
};

// What applies: the chosen value, or the default.
QJsonValue effectiveValue(RequestParameter parameter, const RequestSettings &settings,
                          const engine::SamplingParams &model);

RequestOptions requestOptions(const RequestSettings &settings, const engine::SamplingParams &model);
QString systemPromptOf(const RequestSettings &settings); // empty: none

} // namespace firesteel::app
