// SPDX-License-Identifier: MIT
//
// What other machines' engines tell of themselves at /metrics, each under its own names: vLLM
// (docs.vllm.ai, "Production Metrics"), SGLang (docs.sglang.io, "Production Metrics", with
// --enable-metrics) and this program's endpoint (docs/api.md).
#pragma once

#include "app/remote/prometheus_text.h"

#include <QString>

#include <optional>

namespace firesteel::app {

// One reading; what the server does not tell is empty. Totals only grow while the server runs.
struct RemoteReading
{
    QString server; // "vLLM", "SGLang" or "Firesteel"; empty: none of them
    std::optional<double> running = {}; // requests
    std::optional<double> waiting = {};
    std::optional<double> cacheUse = {}; // of the memory for contexts, 0 to 1
    std::optional<double> promptTotal = {}; // tokens
    std::optional<double> generatedTotal = {};
    std::optional<double> generationRate = {}; // tokens a second, where the server itself says
    std::optional<double> draftedTotal = {}; // tokens guessed
    std::optional<double> acceptedTotal = {}; // of them right
};

RemoteReading readingOf(const PrometheusText &text);

// Growth a second of a total between two readings; nothing where one is missing, no time has passed
// or the total fell, since the server was started again.
std::optional<double> ratePerSecond(std::optional<double> before, std::optional<double> now,
                                    double seconds);

} // namespace firesteel::app
