// SPDX-License-Identifier: MIT
#include "engine/serve/load_budget.h"

#include "engine/base/system_memory.h"
#include "engine/decode/dflash2_drafter.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "engine/state/sequence_memory.h"
#include "kernels/common/device.h"

#include <algorithm>
#include <format>

namespace firesteel::engine {

namespace {

constexpr int kMaxThreads = 1024;
constexpr std::uint64_t kMostSnapshots = 32;
constexpr int kShortestContext
    = 256; // below this a chat makes no sense; less is allocated only when asked for

std::uint64_t lessOrNothing(std::uint64_t from, std::uint64_t what)
{
    return from > what ? from - what : 0;
}

} // namespace

Result<int> chooseContext(const ContextBudget &budget,
                          const std::function<std::uint64_t(int contextTokens)> &sequenceBytes)
{
    if (budget.wantedTokens < 0 || budget.wantedTokens > budget.longestTokens) {
        return fail(ErrorCode::BadRequest,
                    std::format("A context of {} tokens was asked for; this model allows 1 to {}.",
                                budget.wantedTokens, budget.longestTokens));
    }
    const std::uint64_t free = lessOrNothing(budget.availableBytes, budget.reserveBytes);
    const auto fits
        = [&](int tokens) { return budget.weightBytes + sequenceBytes(tokens) <= free; };
    const int least = budget.wantedTokens > 0 ? budget.wantedTokens
                                              : std::min(kShortestContext, budget.longestTokens);
    if (!fits(least)) {
        const std::uint64_t state = sequenceBytes(least);
        return fail(ErrorCode::OutOfMemory,
                    std::format("A context of {} tokens needs {} (weights {}, state {}); {} are "
                                "free beside the reserve of {}.",
                                least, formatBytes(budget.weightBytes + state),
                                formatBytes(budget.weightBytes), formatBytes(state),
                                formatBytes(free), formatBytes(budget.reserveBytes)));
    }
    if (budget.wantedTokens > 0 || fits(budget.longestTokens))
        return budget.wantedTokens > 0 ? budget.wantedTokens : budget.longestTokens;
    int fitting = least;
    int tooLong = budget.longestTokens;
    while (tooLong - fitting > 1) {
        const int middle = fitting + (tooLong - fitting) / 2;
        (fits(middle) ? fitting : tooLong) = middle;
    }
    return fitting;
}

Result<void> checkThreads(int threads)
{
    if (threads < 0 || threads > kMaxThreads) {
        return fail(ErrorCode::BadRequest,
                    std::format("{} threads were asked for; 0 (one per core) to {} make sense.",
                                threads, kMaxThreads));
    }
    return {};
}

Result<void> checkSequences(int sequences)
{
    if (sequences < 0 || sequences > kMaxSequences) {
        return fail(ErrorCode::BadRequest,
                    std::format("{} sequences were asked for; 1 to {} can run at once, 0 leaves "
                                "the choice to the memory.",
                                sequences, kMaxSequences));
    }
    return {};
}

Result<CheckpointSize> checkpointSize(const Checkpoint &checkpoint,
                                      const std::filesystem::path &drafterDirectory)
{
    CheckpointSize size;
    size.directory = checkpoint.directory();
    size.drafterDirectory = drafterDirectory;
    size.shape = checkpoint.shape();
    size.storedBytes = checkpoint.totalBytes();
    size.decodedBytes = decodedExl3Bytes(checkpoint);
    if (!drafterDirectory.empty()) {
        const auto drafter = Dflash2Drafter::neededBytes(drafterDirectory, size.shape, 0);
        if (!drafter)
            return std::unexpected(drafter.error());
        const auto withContext = Dflash2Drafter::neededBytes(drafterDirectory, size.shape, 1);
        if (!withContext)
            return std::unexpected(withContext.error());
        size.drafterBytes = *drafter;
        size.drafterContextBytes = *withContext - *drafter;
    }
    return size;
}

LoadBudget loadBudget(const CheckpointSize &size, const LoadOptions &options,
                      const Processor &processor)
{
    const ModelShape &shape = size.shape;
    const std::uint64_t availableBytes = processor.availableBytes;
    const kernels::DType cache = processor.isDevice ? kernels::DType::BF16 : kernels::DType::F32;
    const auto stateOf = [&](int tokens, int sequences) {
        return static_cast<std::uint64_t>(sequences) * sequenceMemory(shape, tokens, cache).total()
            + (processor.isDevice ? deviceWorkspaceBytes(shape, tokens) : 0);
    };
    const auto drafterOf = [&](int sequences) {
        return size.drafterBytes + static_cast<std::uint64_t>(sequences) * size.drafterContextBytes;
    };
    const int least = std::clamp(options.sequences, 1, kMaxSequences);
    const int longest = shape.maxPositionEmbeddings;
    const int wanted = std::clamp(options.contextTokens, 0, longest);

    LoadBudget budget;
    // Decoding EXL3 at load makes every step faster; it must not cost context.
    if (!processor.isDevice)
        budget.decodeBytes = lessOrNothing(
            lessOrNothing(availableBytes, options.memoryReserveBytes),
            size.storedBytes + drafterOf(least) + stateOf(wanted > 0 ? wanted : longest, least));

    LoadEstimate &estimate = budget.estimate;
    estimate.longestTokens = longest;
    estimate.weightBytes = size.storedBytes
        + (!processor.isDevice && size.decodedBytes <= budget.decodeBytes ? size.decodedBytes : 0);
    estimate.availableBytes = availableBytes;
    estimate.reserveBytes = options.memoryReserveBytes;
    const auto context
        = chooseContext({ availableBytes, options.memoryReserveBytes,
                          estimate.weightBytes + drafterOf(least), options.contextTokens, longest },
                        [&](int tokens) { return stateOf(tokens, least); });
    if (context) {
        estimate.contextTokens = *context;
    } else {
        estimate.contextTokens = wanted > 0 ? wanted : std::min(kShortestContext, longest);
        estimate.refusal = context.error();
    }
    if (const auto threads = checkThreads(options.threads); !threads)
        estimate.refusal = threads.error();
    if (const auto sequences = checkSequences(options.sequences); !sequences)
        estimate.refusal = sequences.error();

    // More sequences than were asked for only where nothing else wants the memory.
    const std::uint64_t free = lessOrNothing(availableBytes, options.memoryReserveBytes);
    const auto neededBy = [&](int sequences) {
        return estimate.weightBytes + drafterOf(sequences)
            + stateOf(estimate.contextTokens, sequences);
    };
    estimate.sequences = options.sequences == 0 ? kUsualSequences : least;
    while (estimate.sequences > least && neededBy(estimate.sequences) > free)
        --estimate.sequences;
    estimate.drafterBytes = drafterOf(estimate.sequences);
    estimate.stateBytes = stateOf(estimate.contextTokens, estimate.sequences);
    estimate.snapshotBytes = std::min(kMostSnapshots * snapshotMemory(shape),
                                      lessOrNothing(free, neededBy(estimate.sequences)) / 2);
    return budget;
}

Result<LoadEstimate> estimateLoad(const LoadOptions &options, std::uint64_t heldBytes,
                                  const CheckpointSize *known)
{
    const auto estimateOf = [&](const CheckpointSize &size) -> Result<LoadEstimate> {
        auto processor = chooseProcessor(options.processor, size.shape);
        if (!processor)
            return std::unexpected(processor.error());
        processor->availableBytes += heldBytes;
        try {
            return loadBudget(size, options, *processor).estimate;
        } catch (const kernels::DeviceError &error) {
            return fail(ErrorCode::Internal, std::format("The GPU: {}", error.what()));
        }
    };
    if (known != nullptr && known->directory == options.modelDirectory
        && known->drafterDirectory == options.drafterDirectory)
        return estimateOf(*known);
    const auto checkpoint = Checkpoint::open(options.modelDirectory);
    if (!checkpoint)
        return std::unexpected(checkpoint.error());
    const auto size = checkpointSize(*checkpoint, options.drafterDirectory);
    if (!size)
        return std::unexpected(size.error());
    return estimateOf(*size);
}

} // namespace firesteel::engine
