// SPDX-License-Identifier: MIT
#include "engine/serve/loaded_model.h"

#include "engine/model/workspace.h"
#include "engine/serve/load_budget.h"

#include <algorithm>
#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

// Few, so that a cancel is seen soon.
constexpr std::int64_t kHostPrefillTokens = Model::kPrefillAlignment;

std::unexpected<Error> cancelled() { return fail(ErrorCode::Cancelled, "The load was cancelled."); }

kernels::Stream openStream(int threads, const Processor &processor)
{
    if (processor.isDevice)
        return { threads, kernels::openCudaQueue() };
    return kernels::Stream(threads);
}

std::string modelName(const ModelShape &shape, const std::filesystem::path &directory)
{
    if (const std::string_view known = knownModelName(shape); !known.empty())
        return std::string(known);
    const std::filesystem::path normal = directory.lexically_normal();
    return (normal.has_filename() ? normal.filename() : normal.parent_path().filename()).string();
}

SamplingParams samplingDefaults(const GenerationDefaults &defaults)
{
    SamplingParams params;
    params.temperature = defaults.temperature;
    params.topP = defaults.topP;
    params.topK = defaults.topK;
    params.minP = defaults.minP;
    params.repetitionPenalty = defaults.repetitionPenalty;
    return params;
}

std::vector<std::int32_t> unitedIds(std::vector<std::int32_t> ids,
                                    const std::vector<std::int32_t> &more)
{
    ids.insert(ids.end(), more.begin(), more.end());
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
    return ids;
}

} // namespace

LoadedModel::LoadedModel(Checkpoint checkpoint, int threads, const Processor &processor)
    : m_checkpoint(std::move(checkpoint))
    , m_stream(openStream(threads, processor))
    , m_prefillTokens(
          static_cast<int>(processor.isDevice ? kMaxDevicePrefillRows : kHostPrefillTokens))
{
    if (processor.isDevice)
        m_hostStream = std::make_unique<kernels::Stream>(threads);
}

Result<std::unique_ptr<LoadedModel>>
LoadedModel::load(const LoadOptions &options, const std::function<void(LoadProgress)> &progress,
                  const CancelToken &cancel)
{
    try {
        return loadOrThrow(options, progress, cancel);
    } catch (const kernels::DeviceError &error) {
        return fail(error.isSticky() ? ErrorCode::Internal : ErrorCode::OutOfMemory,
                    std::format("The GPU: {}", error.what()));
    }
}

Result<std::unique_ptr<LoadedModel>>
LoadedModel::loadOrThrow(const LoadOptions &options,
                         const std::function<void(LoadProgress)> &progress,
                         const CancelToken &cancel)
{
    if (auto checked = checkThreads(options.threads); !checked)
        return std::unexpected(checked.error());
    if (auto checked = checkSequences(options.sequences); !checked)
        return std::unexpected(checked.error());
    progress({ "Opening the model", 0.0 });
    auto checkpoint = Checkpoint::open(options.modelDirectory);
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    const auto processor = chooseProcessor(options.processor, checkpoint->shape());
    if (!processor)
        return std::unexpected(processor.error());
    if (cancel.isCancelled())
        return cancelled();

    progress({ "Reading the tokenizer", 0.05 });
    auto tokenizer = Tokenizer::load(options.modelDirectory / "tokenizer.json");
    if (!tokenizer)
        return std::unexpected(tokenizer.error());
    const auto defaults = readGenerationDefaults(options.modelDirectory);
    if (!defaults)
        return std::unexpected(defaults.error());
    const int vocabulary = checkpoint->shape().vocabularySize;
    if (tokenizer->size() > vocabulary) {
        return fail(ErrorCode::BadCheckpoint,
                    std::format("tokenizer.json has token {}, but config.json's vocab_size is {}.",
                                tokenizer->size() - 1, vocabulary));
    }
    auto eos = unitedIds(checkpoint->shape().eosTokenIds, defaults->eosTokenIds);
    if (eos.empty() || eos.front() < 0 || eos.back() >= vocabulary)
        return fail(ErrorCode::BadCheckpoint,
                    "config.json and generation_config.json: eos_token_id names no token.");
    if (cancel.isCancelled())
        return cancelled();

    auto size = checkpointSize(*checkpoint, options.drafterDirectory);
    if (!size)
        return std::unexpected(size.error());
    const LoadBudget budget = loadBudget(*size, options, *processor);
    const LoadEstimate &estimate = budget.estimate;
    if (estimate.refusal)
        return std::unexpected(*estimate.refusal);

    progress({ "Reading weights", 0.1 });
    // The constructor is private, so no make_unique.
    std::unique_ptr<LoadedModel> loaded(
        new LoadedModel(std::move(*checkpoint), options.threads, *processor));
    auto model = Model::load(
        loaded->m_checkpoint, loaded->m_stream,
        [&](double fraction) { progress({ "Reading weights", 0.1 + 0.8 * fraction }); }, cancel,
        budget.decodeBytes);
    if (!model)
        return std::unexpected(model.error());
    loaded->m_model = std::move(*model);
    if (cancel.isCancelled())
        return cancelled();

    if (!options.drafterDirectory.empty()) {
        progress({ "Reading the drafter", 0.9 });
        auto drafter = Dflash2Drafter::load(
            options.drafterDirectory, *loaded->m_model,
            loaded->m_hostStream ? *loaded->m_hostStream : loaded->m_stream, estimate.sequences);
        if (!drafter)
            return std::unexpected(drafter.error());
        loaded->m_dflash2 = std::move(*drafter);
        loaded->m_model->setTapLayers(loaded->m_dflash2->tapLayers());
        if (cancel.isCancelled())
            return cancelled();
    }

    progress({ "Allocating the context", 0.95 });
    loaded->m_slots = std::make_unique<SequenceSlots>(
        *loaded->m_model, estimate.sequences, estimate.contextTokens, estimate.snapshotBytes);

    ModelInfo info;
    info.name = modelName(loaded->m_model->shape(), options.modelDirectory);
    const int threads = loaded->m_stream.pool().size();
    info.backend = processor->isDevice
        ? processor->name
        : std::format("CPU ({} thread{})", threads, threads == 1 ? "" : "s");
    info.backendNote = processor->note;
    info.contextTokens = estimate.contextTokens;
    info.sequences = estimate.sequences;
    info.vocabularySize = vocabulary;
    info.vocabulary = tokenizer->digest();
    info.parameterCount = loaded->m_model->parameterCount();
    info.weightBytes = estimate.weightBytes;
    info.stateBytes = estimate.stateBytes;
    info.readsImages = false; // the tower is in the checkpoint, its code is not here yet
    info.drafter = loaded->m_dflash2 ? "DFlash2" : "";
    info.drafterBytes = estimate.drafterBytes;
    info.samplingDefaults = samplingDefaults(*defaults);
    // Mapped files are no memory that the end of the model would give back.
    const std::uint64_t heldBytes = estimate.stateBytes
        + (processor->isDevice ? estimate.weightBytes : estimate.weightBytes - size->storedBytes)
        + (loaded->m_dflash2 ? loaded->m_dflash2->bytes() : 0);
    loaded->m_facts
        = std::make_shared<const ModelFacts>(std::move(*tokenizer), std::move(info), std::move(eos),
                                             LoadedSize { std::move(*size), heldBytes });
    if (cancel.isCancelled())
        return cancelled();
    return loaded;
}

std::span<float> LoadedModel::logits(std::size_t rows)
{
    const std::size_t values = rows * static_cast<std::size_t>(m_facts->info().vocabularySize);
    if (m_logits.size() < values)
        m_logits.resize(values);
    return std::span(m_logits).first(values);
}

std::span<float> LoadedModel::taps(std::size_t rows)
{
    if (!m_dflash2)
        return {};
    const std::size_t values = rows * m_dflash2->tapLayers().size()
        * static_cast<std::size_t>(m_model->shape().hiddenSize);
    if (m_taps.size() < values)
        m_taps.resize(values);
    return std::span(m_taps).first(values);
}

} // namespace firesteel::engine
