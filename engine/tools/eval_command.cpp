// SPDX-License-Identifier: MIT
#include "engine/tools/eval_command.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/model/model.h"
#include "engine/quantize/evaluation.h"
#include "engine/quantize/token_windows.h"
#include "engine/text/tokenizer.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_terminal.h"
#include "engine/tools/cli_work.h"
#include "kernels/common/stream.h"

#include <algorithm>
#include <chrono>
#include <format>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace firesteel::engine {

namespace {

constexpr int kWindowTokens = 2048;

// The model is destroyed before the checkpoint whose bytes it reads.
struct Loaded
{
    explicit Loaded(Checkpoint opened)
        : checkpoint(std::move(opened))
    {
    }
    Checkpoint checkpoint;
    std::unique_ptr<Model> model;
};

Result<std::unique_ptr<Loaded>> load(const std::filesystem::path &folder, kernels::Stream &stream,
                                     const CancelToken &cancel)
{
    auto checkpoint = Checkpoint::open(folder);
    if (!checkpoint)
        return std::unexpected(std::move(checkpoint.error()));
    if (auto valid = validateTensors(*checkpoint); !valid)
        return std::unexpected(std::move(valid.error()));
    auto loaded = std::make_unique<Loaded>(std::move(*checkpoint));
    auto model = Model::load(loaded->checkpoint, stream, {}, cancel);
    if (!model)
        return std::unexpected(std::move(model.error()));
    loaded->model = std::move(*model);
    return loaded;
}

std::string reportText(const Agreement &agreement)
{
    return std::format("positions             {}\n"
                       "top-1 agreement       {:.3f} %\n"
                       "mean KL divergence    {:.6f}\n"
                       "KL divergence, p99    {:.6f}\n"
                       "perplexity of teacher {:.4f}\n"
                       "perplexity of model   {:.4f}\n",
                       agreement.positions, 100 * agreement.topOne, agreement.meanDivergence,
                       agreement.divergence99, agreement.teacherPerplexity,
                       agreement.modelPerplexity);
}

std::string reportJson(const Agreement &agreement)
{
    const nlohmann::ordered_json report = { { "positions", agreement.positions },
                                            { "top1_agreement", agreement.topOne },
                                            { "mean_kl_divergence", agreement.meanDivergence },
                                            { "p99_kl_divergence", agreement.divergence99 },
                                            { "teacher_perplexity", agreement.teacherPerplexity },
                                            { "model_perplexity", agreement.modelPerplexity } };
    return report.dump() + "\n";
}

} // namespace

int runEval(const CliOptions &options, const CliSignals &signals)
{
    const CancelToken cancel;
    const CancelOnSignal watch(signals, cancel);
    kernels::Stream stream(options.threads);
    const auto tokenizer = Tokenizer::load(options.teacher / "tokenizer.json");
    if (!tokenizer)
        return reportError(tokenizer.error());
    const auto teacher = load(options.teacher, stream, cancel);
    if (!teacher)
        return reportError(teacher.error());
    const auto model = load(options.model, stream, cancel);
    if (!model)
        return reportError(model.error());
    const int wanted = options.contextTokens > 0 ? options.contextTokens : kWindowTokens;
    const int longest = std::min({ wanted, (*teacher)->model->shape().maxPositionEmbeddings,
                                   (*model)->model->shape().maxPositionEmbeddings });
    const auto windows
        = readTokenWindows(options.text, *tokenizer, static_cast<std::size_t>(longest));
    if (!windows)
        return reportError(windows.error());

    Result<Agreement> agreement;
    {
        ProgressLine line;
        const auto start = std::chrono::steady_clock::now();
        agreement = evaluate(
            *(*teacher)->model, *(*model)->model, *windows,
            [&](double fraction) {
                const double seconds
                    = std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
                          .count();
                line.show("evaluating", fraction, seconds * (1 - fraction) / fraction);
            },
            cancel);
    }
    if (!agreement)
        return reportError(agreement.error());
    return writeOutput(options.printsJson ? reportJson(*agreement) : reportText(*agreement))
        ? 0
        : kExitFailure;
}

} // namespace firesteel::engine
