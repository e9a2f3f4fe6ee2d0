// SPDX-License-Identifier: MIT
//
// Reads a model's weights from a checkpoint, collecting the first error so that layers can list
// their tensors plainly.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::engine {

class WeightReader
{
public:
    explicit WeightReader(const Checkpoint &checkpoint)
        : m_checkpoint(checkpoint)
    {
    }

    const ModelShape &shape() const { return m_checkpoint.shape(); }

    // A weight used where it is mapped; an empty matrix after an error.
    kernels::Matrix matrix(const std::string &name, std::initializer_list<std::int64_t> shape);

    // A small tensor widened to float32, flattened.
    std::vector<float> values(const std::string &name, std::initializer_list<std::int64_t> shape);

    const std::optional<Error> &error() const { return m_error; }
    std::uint64_t parameterCount() const { return m_parameterCount; }

private:
    const Checkpoint &m_checkpoint;
    std::optional<Error> m_error;
    std::uint64_t m_parameterCount = 0;
};

} // namespace firesteel::engine
