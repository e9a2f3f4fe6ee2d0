// SPDX-License-Identifier: MIT
#include "engine/quantize/checkpoint_quantizer.h"

#include "engine/base/mapped_file.h"
#include "engine/base/printable.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/model/model.h"
#include "engine/quantize/calibration.h"
#include "engine/quantize/digest.h"
#include "engine/quantize/exl3_folder_writer.h"
#include "engine/quantize/journal.h"
#include "engine/quantize/matrix_quantizer.h"
#include "engine/quantize/quantize_plan.h"
#include "engine/quantize/tensor_values.h"
#include "engine/quantize/token_windows.h"
#include "engine/text/tokenizer.h"
#include "kernels/common/device.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <format>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace firesteel::engine {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Stage = QuantizeProgress::Stage;

constexpr const char *kJournalName = "quantize.journal";
constexpr const char *kHessiansName = "quantize.hessians.safetensors";
constexpr std::string_view kArithmetic = "1"; // changes when the same inputs give other matrices

// Time left, from what has been done since it was made.
class Timer
{
public:
    double secondsLeft(double fraction)
    {
        const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
        if (m_first < 0)
            m_first = fraction;
        const double done = fraction - m_first;
        return done > 0 ? seconds * (1 - fraction) / done : 0;
    }

private:
    Clock::time_point m_start = Clock::now();
    double m_first = -1;
};

class CheckpointQuantizer
{
public:
    CheckpointQuantizer(const QuantizeOptions &options, kernels::Stream &stream,
                        const std::function<void(const QuantizeProgress &)> &progress,
                        const CancelToken &cancel)
        : m_options(options)
        , m_stream(stream)
        , m_progress(progress)
        , m_cancel(cancel)
    {
    }

    Result<QuantizeReport> run()
    {
        for (const auto step :
             { &CheckpointQuantizer::readSource, &CheckpointQuantizer::plan,
               &CheckpointQuantizer::openTarget, &CheckpointQuantizer::findHessians,
               &CheckpointQuantizer::quantizeMatrices, &CheckpointQuantizer::writeFolder })
            if (Result<void> result = (this->*step)(); !result)
                return std::unexpected(std::move(result.error()));
        return std::move(m_report);
    }

private:
    Result<void> readSource();
    Result<void> plan();
    Result<void> openTarget();
    Result<void> findHessians();
    Result<void> quantizeMatrices();
    Result<void> quantizeBatch(std::span<const PlannedMatrix *const> batch);
    Result<void> writeFolder();

    void tell(const QuantizeProgress &progress) const
    {
        if (m_progress)
            m_progress(progress);
    }

    const QuantizeOptions &m_options;
    kernels::Stream &m_stream;
    const std::function<void(const QuantizeProgress &)> &m_progress;
    const CancelToken &m_cancel;

    std::optional<TensorFolder> m_folder;
    std::optional<Checkpoint> m_checkpoint; // of a glm5_next folder
    nlohmann::ordered_json m_config;
    QuantizePlan m_plan;
    JournalInputs m_inputs;
    std::optional<Journal> m_journal;
    Hessians m_hessians;
    Timer m_timer; // of quantizeMatrices
    std::uint64_t m_totalWeights = 0;
    std::uint64_t m_doneWeights = 0;
    double m_errorSum = 0; // proxy errors times weights
    std::set<std::string> m_uncalibrated;
    QuantizeReport m_report;
};

Result<void> CheckpointQuantizer::readSource()
{
    auto folder = TensorFolder::open(m_options.source);
    if (!folder)
        return std::unexpected(std::move(folder.error()));
    m_folder.emplace(std::move(*folder));
    const fs::path configPath = m_options.source / "config.json";
    const auto config = MappedFile::open(configPath);
    if (!config)
        return std::unexpected(config.error());
    const auto *text = reinterpret_cast<const char *>(config->bytes().data());
    m_config = nlohmann::ordered_json::parse(text, text + config->bytes().size(), nullptr, false);
    if (!m_config.is_object())
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: is not a JSON object", printable(configPath.string())));
    if (m_config.value("model_type", "") == "glm5_next") {
        auto checkpoint = Checkpoint::open(m_options.source);
        if (!checkpoint)
            return std::unexpected(std::move(checkpoint.error()));
        if (auto valid = validateTensors(*checkpoint); !valid)
            return valid;
        m_checkpoint.emplace(std::move(*checkpoint));
    }
    Digest digest;
    digest.add(config->bytes());
    digest.add(std::to_string(tensorDigest(*m_folder)));
    m_inputs.source = digest.value();
    return {};
}

Result<void> CheckpointQuantizer::plan()
{
    const auto rates = RateTable::read(m_options.rates);
    if (!rates)
        return std::unexpected(rates.error());
    std::optional<std::set<std::string>> linears;
    if (m_checkpoint) {
        linears.emplace();
        for (const ExpectedTensor &tensor : expectedTensors(*m_checkpoint))
            if (tensor.isLinear)
                linears->emplace(tensor.module());
    }
    auto planned = planQuantization(*m_folder, *rates, linears);
    if (!planned)
        return std::unexpected(std::move(planned.error()));
    m_plan = std::move(*planned);
    for (const PlannedMatrix &matrix : m_plan.matrices)
        m_totalWeights += matrix.weights();

    m_inputs.rates = m_plan.rateDigest;
    Digest settings;
    settings.add(kArithmetic);
    settings.add(std::to_string(static_cast<int>(m_options.codebook)));
    m_inputs.settings = settings.value();
    if (m_checkpoint) {
        const auto text = MappedFile::open(m_options.calibration);
        if (!text)
            return std::unexpected(text.error());
        Digest digest;
        digest.add(text->bytes());
        digest.add(std::to_string(m_options.windowTokens));
        m_inputs.calibration = digest.value();
    }
    return {};
}

Result<void> CheckpointQuantizer::openTarget()
{
    std::error_code error;
    if (fs::equivalent(m_options.source, m_options.target, error))
        return fail(ErrorCode::BadRequest, "--in and --out are the same folder");
    fs::create_directories(m_options.target, error);
    if (error)
        return fail(ErrorCode::Io,
                    std::format("{}: cannot be made: {}", printable(m_options.target.string()),
                                error.message()));
    const fs::path journal = m_options.target / kJournalName;
    if (!fs::exists(journal, error) && !fs::is_empty(m_options.target, error))
        return fail(ErrorCode::BadRequest,
                    std::format("{}: is not empty and not the folder of an unfinished run",
                                printable(m_options.target.string())));
    auto opened = Journal::open(journal, m_inputs);
    if (!opened)
        return std::unexpected(std::move(opened.error()));
    m_journal.emplace(std::move(*opened));
    return {};
}

Result<void> CheckpointQuantizer::findHessians()
{
    if (!m_checkpoint) {
        m_plan.notes.emplace_back("this architecture has no forward pass here: every input counts "
                                  "as uncorrelated");
        return {};
    }
    const fs::path file
        = m_options.hessians.empty() ? m_options.target / kHessiansName : m_options.hessians;
    const HessianInputs inputs { m_inputs.source, m_inputs.calibration };
    auto loaded = loadHessians(file, inputs);
    if (loaded) {
        m_hessians = std::move(*loaded);
        return {};
    }
    if (loaded.error().code != ErrorCode::NotFound)
        return std::unexpected(std::move(loaded.error()));
    const auto tokenizer = Tokenizer::load(m_options.source / "tokenizer.json");
    if (!tokenizer)
        return std::unexpected(tokenizer.error());
    const int longest
        = std::min(m_options.windowTokens, m_checkpoint->shape().maxPositionEmbeddings);
    const auto windows
        = readTokenWindows(m_options.calibration, *tokenizer, static_cast<std::size_t>(longest));
    if (!windows)
        return std::unexpected(windows.error());
    // The forward pass of the source runs on the CPU, whatever the search runs on.
    kernels::Stream cpu(m_options.threads);
    auto model = Model::load(*m_checkpoint, cpu, {}, m_cancel);
    if (!model)
        return std::unexpected(std::move(model.error()));
    Timer timer;
    auto hessians = calibrate(
        **model, *windows, cpu.pool(),
        [&](double fraction) {
            tell({ .stage = Stage::Calibrating,
                   .fraction = fraction,
                   .secondsLeft = timer.secondsLeft(fraction),
                   .module = {} });
        },
        m_cancel);
    if (!hessians)
        return std::unexpected(std::move(hessians.error()));
    m_hessians = std::move(*hessians);
    return saveHessians(file, m_hessians, inputs);
}

Result<void> CheckpointQuantizer::quantizeMatrices()
{
    // Tiles that are searched at once come from matrices of one width and rate; enough of them for
    // every multiprocessor or thread to have several.
    const auto device = kernels::findDevice().device;
    const bool isGpu = m_stream.backend() == kernels::Backend::Cuda && device;
    const std::int64_t enough = 4LL * (isGpu ? device->multiprocessors : m_stream.pool().size());
    std::map<std::pair<std::int32_t, int>, std::vector<const PlannedMatrix *>> groups;
    for (const PlannedMatrix &matrix : m_plan.matrices) {
        if (m_journal->contains(matrix.module)) {
            ++m_report.resumed;
            m_doneWeights += matrix.weights();
            if (const auto done = m_journal->read(matrix.module))
                m_errorSum += done->proxyError * static_cast<double>(matrix.weights());
        } else {
            groups[{ matrix.in, matrix.rate }].push_back(&matrix);
        }
    }
    m_timer = {};
    m_timer.secondsLeft(static_cast<double>(m_doneWeights) / static_cast<double>(m_totalWeights));
    for (const auto &[kind, matrices] : groups) {
        std::vector<const PlannedMatrix *> batch;
        std::int64_t rowTiles = 0;
        for (std::size_t i = 0; i < matrices.size(); ++i) {
            batch.push_back(matrices[i]);
            rowTiles += matrices[i]->out / kernels::kExl3Tile;
            if (rowTiles < enough && i + 1 < matrices.size())
                continue;
            if (auto done = quantizeBatch(batch); !done)
                return done;
            batch.clear();
            rowTiles = 0;
        }
    }
    return {};
}

Result<void> CheckpointQuantizer::quantizeBatch(std::span<const PlannedMatrix *const> batch)
{
    std::vector<std::vector<float>> weights;
    std::vector<MatrixToQuantize> matrices;
    for (const PlannedMatrix *planned : batch) {
        const auto hessian = m_hessians.find(planned->module);
        const bool isKnown = hessian != m_hessians.end() && !hessian->second->isEmpty()
            && hessian->second->size() == planned->in;
        if (!isKnown && m_checkpoint)
            m_uncalibrated.insert(planned->module);
        weights.push_back(widenedValues(*planned->entry));
        matrices.push_back({ .name = planned->module,
                             .weight = weights.back(),
                             .in = planned->in,
                             .out = planned->out,
                             .hessian = isKnown ? hessian->second.get() : nullptr });
    }
    const auto results = engine::quantizeMatrices(matrices, batch.front()->rate, m_options.codebook,
                                                  m_stream, m_cancel);
    if (!results)
        return std::unexpected(results.error());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (auto kept = m_journal->append(batch[i]->module, (*results)[i]); !kept)
            return kept;
        m_doneWeights += batch[i]->weights();
        m_errorSum += (*results)[i].proxyError * static_cast<double>(batch[i]->weights());
        const double fraction
            = static_cast<double>(m_doneWeights) / static_cast<double>(m_totalWeights);
        tell({ .stage = Stage::Quantizing,
               .fraction = fraction,
               .secondsLeft = m_timer.secondsLeft(fraction),
               .module = batch[i]->module,
               .proxyError = (*results)[i].proxyError });
    }
    return {};
}

Result<void> CheckpointQuantizer::writeFolder()
{
    double bits = 0;
    int headRate = 0;
    for (const PlannedMatrix &matrix : m_plan.matrices) {
        bits += static_cast<double>(matrix.rate) * static_cast<double>(matrix.weights());
        if (matrix.module == "lm_head")
            headRate = matrix.rate;
    }
    const auto total = static_cast<double>(m_totalWeights);
    m_report.quantized = m_plan.matrices.size();
    m_report.quantizedWeights = m_totalWeights;
    m_report.bitsPerWeight = bits / total;
    m_report.meanProxyError = m_errorSum / total;
    if (!m_uncalibrated.empty())
        m_plan.notes.push_back(std::format(
            "{} matrices whose inputs the calibration did not see count them as uncorrelated: {}{}",
            m_uncalibrated.size(), printable(*m_uncalibrated.begin()),
            m_uncalibrated.size() > 1 ? " and others" : ""));
    m_report.notes = m_plan.notes;

    nlohmann::ordered_json quantization
        = { { "quant_method", "exl3" },
            { "version", "firesteel" },
            { "bits", std::round(1000 * m_report.bitsPerWeight) / 1000 },
            { "out_scales", "always" },
            { "codebook", exl3CodebookName(m_options.codebook) } };
    if (headRate != 0)
        quantization["head_bits"] = headRate;
    m_config["quantization_config"] = quantization;
    auto written = writeExl3Folder(m_options.source, m_options.target, m_plan, *m_journal,
                                   m_options.codebook, m_config.dump(2) + "\n");
    if (!written)
        return std::unexpected(std::move(written.error()));
    m_report.targetBytes = *written;
    m_report.sourceBytes = m_folder->totalBytes();
    tell({ .stage = Stage::Writing, .fraction = 1, .module = {} });

    std::error_code ignored;
    fs::remove(m_options.target / kHessiansName, ignored);
    fs::remove(m_options.target / kJournalName, ignored);
    return {};
}

} // namespace

Result<QuantizeReport>
quantizeCheckpoint(const QuantizeOptions &options, kernels::Stream &stream,
                   const std::function<void(const QuantizeProgress &)> &progress,
                   const CancelToken &cancel)
{
    return CheckpointQuantizer(options, stream, progress, cancel).run();
}

} // namespace firesteel::engine
