// SPDX-License-Identifier: MIT
//
// What the benchmark asks and how its figures are computed: fixed prompts, thinking off, greedy.
// Pure functions; BenchmarkController runs them.
#pragma once

#include "engine/api/event.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

struct BenchmarkTask
{
    enum class Figure { WarmUp, Reading, Writing };
    QString id; // as in resources/benchmark/published.json
    QString name; // for a person
    std::string prompt;
    int maxTokens = 0;
    Figure figure = Figure::Writing;
};

// In the order they run. `salt` begins the long prompt, so that no earlier run's work is reused.
std::vector<BenchmarkTask> benchmarkTasks(unsigned salt);

// Tokens a second, of those that were computed and not reused; empty where nothing was measured.
std::optional<double> readingSpeed(const engine::Finished &finished);
// (tokens - 1) / time from the first to the last; empty below two tokens.
std::optional<double> writingSpeed(const engine::Finished &finished);

struct PublishedFigure
{
    QString id;
    double value = 0;
    QString unit; // "tok/s" or "s"
    QString how;
    QString repository;
    QString url;
    QString date; // ISO
};

// Of resources/benchmark; throws std::logic_error where the shipped file is broken.
const std::vector<PublishedFigure> &publishedFigures();

} // namespace firesteel::app
