// SPDX-License-Identifier: MIT
#include "app/benchmark/benchmark_controller.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QLocale>
#include <QRandomGenerator>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// Whose figures are published, and on what.
constexpr auto kModel = "GLM-5.3-Flash"_L1;
constexpr auto kMachine = "GB10"_L1; // the GPU of a DGX Spark
constexpr double kWholeFrom = 100; // from here on decimals say nothing

QString figureText(double value, const QString &unit)
{
    const int decimals = unit == "s"_L1 ? 2 : value < kWholeFrom ? 1 : 0;
    return u"%1 %2"_s.arg(QLocale().toString(value, 'f', decimals), unit);
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

BenchmarkController::BenchmarkController(EngineController &engine, QObject *parent)
    : QObject(parent)
    , m_engine(engine)
{
    connect(&engine, &EngineController::stateChanged, this, &BenchmarkController::changed);
    connect(&engine, &EngineController::statsChanged, this, &BenchmarkController::changed);
}

BenchmarkController::~BenchmarkController() = default;

bool BenchmarkController::isAvailable() const
{
    return !isRunning() && m_engine.state() == EngineController::State::Ready
        && m_engine.runningRequests() + m_engine.waitingRequests() == 0;
}

void BenchmarkController::start()
{
    if (!isAvailable())
        return;
    m_tasks = benchmarkTasks(QRandomGenerator::global()->bounded(100'000U));
    m_at = 0;
    m_own.clear();
    m_firstTokens.clear();
    m_problem.clear();
    const QString model = m_engine.modelName();
    m_isComparable = model == kModel && m_engine.backendText().contains(kMachine);
    m_subject = tr("%1 on %2, %3")
                    .arg(model, m_engine.backendText(),
                         QLocale().toString(QDateTime::currentDateTime(), QLocale::ShortFormat));
    Q_EMIT figuresChanged();
    runNext();
}

void BenchmarkController::stop()
{
    if (m_generation)
        m_generation->cancel(); // ends with an update
}

void BenchmarkController::runNext()
{
    const BenchmarkTask &task = m_tasks[m_at];
    m_tokens = 0;
    engine::PromptOptions options;
    options.thinking = false;
    m_generation = m_engine.measure({ engine::Message::text(engine::Role::User, task.prompt) },
                                    options, task.maxTokens);
    connect(m_generation.get(), &Generation::updated, this, &BenchmarkController::onUpdate);
    Q_EMIT changed();
}

void BenchmarkController::onUpdate(const GenerationUpdate &update)
{
    for (const auto &piece : update.pieces)
        m_tokens += piece.tokens;
    if (update.failed) {
        end(QString::fromStdString(update.failed->message));
    } else if (update.finished && update.finished->reason == engine::FinishReason::Cancelled) {
        end(tr("Stopped before its end."));
    } else if (update.finished) {
        keep(m_tasks[m_at], *update.finished);
        if (++m_at < m_tasks.size())
            runNext();
        else
            end({});
    } else {
        Q_EMIT changed();
    }
}

void BenchmarkController::keep(const BenchmarkTask &task, const engine::Finished &finished)
{
    const auto store = [this](const QString &id, std::optional<double> value) {
        if (value)
            m_own[id] = *value;
    };
    switch (task.figure) {
    case BenchmarkTask::Figure::WarmUp:
        return;
    case BenchmarkTask::Figure::Reading:
        store(task.id, readingSpeed(finished));
        break;
    case BenchmarkTask::Figure::Writing:
        store(task.id, writingSpeed(finished));
        if (finished.timings.timeToFirstTokenSeconds > 0) {
            m_firstTokens.push_back(finished.timings.timeToFirstTokenSeconds);
            m_own[u"firstToken"_s] = median(m_firstTokens);
        }
    }
    Q_EMIT figuresChanged();
}

void BenchmarkController::end(const QString &problem)
{
    m_problem = problem;
    m_generation.reset();
    Q_EMIT changed();
}

QString BenchmarkController::stage() const { return isRunning() ? m_tasks[m_at].name : QString(); }

double BenchmarkController::fraction() const
{
    if (!isRunning())
        return 0;
    const double part = static_cast<double>(m_tokens) / m_tasks[m_at].maxTokens;
    return (static_cast<double>(m_at) + std::min(part, 1.0)) / static_cast<double>(m_tasks.size());
}

QList<BenchmarkRow> BenchmarkController::rows() const
{
    const std::map<QString, QString> names {
        { u"reading"_s, tr("Reading a long prompt") },
        { u"firstToken"_s, tr("Time to the first token") },
        { u"structured"_s, tr("Writing numbers") },
        { u"prose"_s, tr("Writing prose") },
        { u"code"_s, tr("Writing code") },
    };
    QList<BenchmarkRow> rows;
    for (const PublishedFigure &figure : publishedFigures()) {
        BenchmarkRow row;
        row.name = names.at(figure.id);
        if (const auto own = m_own.find(figure.id); own != m_own.end())
            row.own = figureText(own->second, figure.unit);
        row.published = figureText(figure.value, figure.unit);
        row.how = figure.how;
        row.source = u"%1, %2"_s.arg(figure.repository, figure.date);
        row.url = figure.url;
        rows << row;
    }
    return rows;
}

QString BenchmarkController::note() const
{
    if (!isMeasured())
        return tr("It takes about a minute: one long prompt and three short answers, always the "
                  "same, without thinking and at temperature 0.");
    return m_isComparable
        ? tr("Published by others for this checkpoint on one DGX Spark, with their own programs.")
        : tr("The published figures are of GLM-5.3-Flash on one DGX Spark. Yours are of another "
             "model or machine and cannot be compared with them.");
}

void BenchmarkController::copyResult() const
{
    QGuiApplication::clipboard()->setText(resultText());
}

QString BenchmarkController::resultText() const
{
    QStringList lines { m_subject };
    for (const BenchmarkRow &row : rows()) {
        lines << u"%1: %2 (%3: %4, %5; %6)"_s.arg(row.name, row.own.isEmpty() ? u"-"_s : row.own,
                                                  tr("published"), row.published, row.how,
                                                  row.source);
    }
    return lines.join(u'\n');
}

} // namespace firesteel::app
