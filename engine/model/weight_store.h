// SPDX-License-Identifier: MIT
//
// The weights of a model where its kernels read them: on the CPU in the mapped file, on the device
// copied, many tensors to a block.
#pragma once

#include "kernels/common/device.h"
#include "kernels/common/stream.h"
#include "kernels/common/tensor.h"

#include <cstddef>
#include <cstdint>
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

    // On the CPU `data` itself, which must outlive its use; on the device a copy that lives as long
    // as the store. Throws kernels::DeviceError.
    const void *place(const void *data, std::size_t count, kernels::DType dtype);
    const std::uint16_t *placeTrellis(const std::uint16_t *data, std::size_t count);

private:
    std::byte *allocate(std::size_t bytes);

    kernels::Stream &m_stream;
    WeightContents m_contents;
    std::vector<kernels::DeviceMemory> m_blocks;
    std::size_t m_used = 0; // of the last block
    std::uint64_t m_placedBytes = 0; // also the seed of the next random tensor
};

} // namespace firesteel::engine
