// SPDX-License-Identifier: MIT
#include "app/benchmark/benchmark_plan.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>
#include <stdexcept>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr int kShortAnswer = 256;
constexpr int kLines = 90; // of the long prompt: about 2,000 tokens

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Benchmark)
};

// Sentences that differ from line to line: one word over and over would visit the same few experts
// and look faster than reading is.
std::string longPrompt(unsigned salt)
{
    static constexpr std::array kPlaces { "Lyon",  "Oslo",  "Kyoto", "Porto",
                                          "Tartu", "Quito", "Leeds" };
    static constexpr std::array kThings { "maps", "letters", "glass plates", "tide tables",
                                          "seed lists" };
    static constexpr std::array kDeeds { "lent", "sold", "returned", "copied for" };
    std::string text = "Register " + std::to_string(salt) + ".\n";
    for (unsigned line = 1; line <= kLines; ++line) {
        text += "Entry " + std::to_string(line) + ": in " + std::to_string(1800 + line * 37 % 190)
            + " the museum in " + kPlaces[line * 3 % kPlaces.size()] + ' '
            + kDeeds[line % kDeeds.size()] + " the library in " + kPlaces[line * 5 % kPlaces.size()]
            + ' ' + std::to_string(line * 53 % 97 + 2) + ' ' + kThings[line * 7 % kThings.size()]
            + ".\n";
    }
    return text + "How many entries does the register have?";
}

PublishedFigure readFigure(const QJsonObject &object)
{
    PublishedFigure figure { object["id"_L1].toString(),         object["value"_L1].toDouble(),
                             object["unit"_L1].toString(),       object["how"_L1].toString(),
                             object["repository"_L1].toString(), object["url"_L1].toString(),
                             object["date"_L1].toString() };
    if (figure.id.isEmpty() || !(figure.value > 0) || figure.unit.isEmpty() || figure.how.isEmpty()
        || figure.url.isEmpty() || figure.date.isEmpty())
        throw std::logic_error("published.json: a figure without value, unit or source");
    return figure;
}

} // namespace

std::vector<BenchmarkTask> benchmarkTasks(unsigned salt)
{
    using Figure = BenchmarkTask::Figure;
    const std::string count = "Count from 1 to 200, separated by commas. Write only the numbers.";
    return {
        { u"warmUp"_s, Words::tr("Warming up"), count, 16, Figure::WarmUp },
        { u"reading"_s, Words::tr("Reading a long prompt"), longPrompt(salt), 16, Figure::Reading },
        { u"structured"_s, Words::tr("Writing numbers"), count, kShortAnswer, Figure::Writing },
        { u"prose"_s, Words::tr("Writing prose"),
          "Explain step by step how a hash map works, in plain prose.", kShortAnswer,
          Figure::Writing },
        { u"code"_s, Words::tr("Writing code"),
          "Write a complete Python class LRUCache with get and put, and tests for it. Only code.",
          kShortAnswer, Figure::Writing },
    };
}

std::optional<double> readingSpeed(const engine::Finished &finished)
{
    const int computed = finished.usage.promptTokens - finished.usage.cachedTokens;
    if (computed <= 0 || !(finished.timings.prefillSeconds > 0))
        return std::nullopt;
    return computed / finished.timings.prefillSeconds;
}

std::optional<double> writingSpeed(const engine::Finished &finished)
{
    const int tokens = finished.usage.completionTokens;
    if (tokens < 2 || !(finished.timings.decodeSeconds > 0))
        return std::nullopt;
    return (tokens - 1) / finished.timings.decodeSeconds;
}

const std::vector<PublishedFigure> &publishedFigures()
{
    static const std::vector<PublishedFigure> figures = [] {
        QFile file(u":/firesteel/benchmark/published.json"_s);
        if (!file.open(QIODevice::ReadOnly))
            throw std::logic_error("published.json is not there");
        std::vector<PublishedFigure> read;
        const QJsonArray list
            = QJsonDocument::fromJson(file.readAll()).object()["figures"_L1].toArray();
        for (const auto &value : list)
            read.push_back(readFigure(value.toObject()));
        return read;
    }();
    return figures;
}

} // namespace firesteel::app
