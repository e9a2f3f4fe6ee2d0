// SPDX-License-Identifier: MIT
//
// The weights of a model where its kernels read them: on the CPU in the mapped file, on the device
// copied, many tensors to a block.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "engine/checkpoint/tensor_folder.h"
#include "kernels/common/device.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace firesteel::engine {

// What the weights are: the checkpoint's, or for benchmarks on the device random ones of the same
// shapes and types, for which nothing is read (norms, biases and other small vectors are ones).
enum class WeightContents { Stored, Random };

class WeightStore
{
public:
    explicit WeightStore(kernels::Stream &stream, WeightContents contents = WeightContents::Stored)
        : m_stream(stream)
        , m_contents(contents)
    {
    }

    kernels::Stream &stream() const { return m_stream; }
    bool isRandom() const { return m_contents == WeightContents::Random; }

    // On the CPU `data` itself, which must outlive its use; on the device the place of a copy that
    // load() makes and that lives as long as the store. Throws kernels::DeviceError.
    const void *place(const void *data, std::size_t count, kernels::DType dtype);
    const std::uint16_t *placeTrellis(const std::uint16_t *data, std::size_t count);

    // Reads what was placed of this folder into its places, past the page cache. progress: of these
    // bytes, 0 to 1. Errors: those of readPieces. Throws kernels::DeviceError.
    Result<void> load(const TensorFolder &folder, const std::function<void(double)> &progress,
                      const CancelToken &cancel);

private:
    std::byte *allocate(std::size_t bytes);

    kernels::Stream &m_stream;
    WeightContents m_contents;
    std::vector<kernels::DeviceMemory> m_blocks;
    std::size_t m_used = 0; // of the last block
    std::uint64_t m_placedBytes = 0; // also the seed of the next random tensor
    struct Copy
    {
        std::byte *to;
        const void *from;
        std::size_t bytes;
    };
    std::vector<Copy> m_copies; // that load() makes
};

} // namespace firesteel::engine
