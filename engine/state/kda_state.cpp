// SPDX-License-Identifier: MIT
#include "engine/state/kda_state.h"

#include <array>
#include <utility>

namespace firesteel::engine {

namespace {

// Every buffer of two states, in pairs.
auto buffersOf(auto &state)
{
    return std::array { &state.state,     &state.window,    &state.recordedInput,
                        &state.recordedU, &state.recordedG, &state.recordedBeta };
}

} // namespace

KdaState::KdaState(const ModelShape &shape, kernels::Stream &stream)
{
    const auto heads = static_cast<std::size_t>(shape.kda.heads);
    const auto dim = static_cast<std::size_t>(shape.kda.headDim);
    const std::size_t channels = heads * dim;
    const auto zeros
        = [&](std::size_t count) { return kernels::Buffer<float>::zeros(count, stream); };
    constexpr std::size_t kRows = kernels::kMaxSequenceRows;
    state = zeros(channels * dim);
    window = zeros(static_cast<std::size_t>(kernels::kKdaWindow) * 3 * channels);
    recordedInput = zeros(kRows * 3 * channels);
    recordedU = zeros(kRows * 3 * channels);
    recordedG = zeros(kRows * channels);
    recordedBeta = zeros(kRows * heads);
}

kernels::KdaSlot KdaState::slot() const
{
    return { .state = state.data(),
             .window = window.data(),
             .input = recordedInput.data(),
             .u = recordedU.data(),
             .g = recordedG.data(),
             .beta = recordedBeta.data() };
}

KdaState KdaState::clone(kernels::Stream &stream) const { return copyInto({}, true, stream); }

KdaState KdaState::copyInto(KdaState storage, bool withRecords, kernels::Stream &stream) const
{
    const auto from = buffersOf(*this);
    const auto to = buffersOf(storage);
    for (std::size_t i = 0; i < from.size(); ++i) {
        const bool isRecord = from.at(i) != &state && from.at(i) != &window;
        if (isRecord && !withRecords)
            *to.at(i) = {};
        else if (to.at(i)->size() != from.at(i)->size())
            *to.at(i) = from.at(i)->clone(stream);
        else
            kernels::copyWithin(to.at(i)->data(), from.at(i)->data(), from.at(i)->bytes(), stream);
    }
    return storage;
}

void KdaState::copyFrom(const KdaState &other, kernels::Stream &stream)
{
    const auto from = buffersOf(other);
    const auto to = buffersOf(*this);
    for (std::size_t i = 0; i < from.size(); ++i)
        kernels::copyWithin(to.at(i)->data(), from.at(i)->data(), from.at(i)->bytes(), stream);
}

std::uint64_t KdaState::bytes() const
{
    std::uint64_t sum = 0;
    for (const auto *buffer : buffersOf(*this))
        sum += buffer->bytes();
    return sum;
}

} // namespace firesteel::engine
