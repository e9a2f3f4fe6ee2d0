// SPDX-License-Identifier: MIT
#include "tests/support/loaded_model.h"

#include "kernels/common/device.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace firesteel::test {

namespace {

engine::Checkpoint openOrThrow(const std::filesystem::path &directory)
{
    auto checkpoint = engine::Checkpoint::open(directory);
    if (!checkpoint)
        throw std::runtime_error(checkpoint.error().message);
    return std::move(*checkpoint);
}

} // namespace

LoadedModel::LoadedModel(const std::filesystem::path &directory, int threads,
                         std::uint64_t decodeBudgetBytes, std::shared_ptr<kernels::CudaQueue> queue)
    : checkpoint(openOrThrow(directory))
    , stream(threads, std::move(queue))
{
    auto loaded = engine::Model::load(checkpoint, stream, {}, {}, decodeBudgetBytes);
    if (!loaded)
        throw std::runtime_error(loaded.error().message);
    model = std::move(*loaded);
}

std::vector<float> LoadedModel::decode(engine::SequenceState &sequence,
                                       std::span<const std::int32_t> tokens)
{
    std::vector<float> logits(tokens.size() * vocabulary());
    const engine::DecodeRows rows { &sequence, tokens };
    model->decode({ &rows, 1 }, logits);
    return logits;
}

std::vector<float> LoadedModel::prefill(engine::SequenceState &sequence,
                                        std::span<const std::int32_t> tokens, std::size_t rows,
                                        const engine::LayerObserver &observer)
{
    std::vector<float> logits(rows * vocabulary());
    model->prefill(sequence, tokens, logits, {}, observer);
    return logits;
}

LoadedModel *trainedModel()
{
    const auto directory = modelDirectory();
    if (!directory) {
        reportSkip("FIRESTEEL_MODEL is not set");
        return nullptr;
    }
    static LoadedModel model(*directory);
    return &model;
}

LoadedModel &embeddedModel()
{
    static LoadedModel model(embeddedModelDirectory());
    return model;
}

namespace {

// The queue of a model's own on the GPU; null after reporting a skip.
std::shared_ptr<kernels::CudaQueue> openQueue()
{
    const kernels::DeviceSearch search = kernels::findDevice();
    if (search.device)
        return kernels::openCudaQueue();
    reportSkip(search.reason);
    return nullptr;
}

} // namespace

LoadedModel *embeddedModelOnDevice()
{
    static const auto queue = openQueue();
    if (!queue)
        return nullptr;
    static LoadedModel model(embeddedModelDirectory(), 1, 0, queue);
    return &model;
}

LoadedModel *trainedModelOnDevice()
{
    const auto directory = modelDirectory();
    if (!directory) {
        reportSkip("FIRESTEEL_MODEL is not set");
        return nullptr;
    }
    static const auto queue = openQueue();
    if (!queue)
        return nullptr;
    static LoadedModel model(*directory, 1, 0, queue);
    return &model;
}

std::int32_t argmax(std::span<const float> row)
{
    return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
}

} // namespace firesteel::test
