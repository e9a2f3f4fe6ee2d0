// SPDX-License-Identifier: MIT
//
// The indexer of an MLA layer: scores pooled keys and chooses the tokens each query attends to.
#pragma once

#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/mla/mla.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

class Indexer
{
public:
    // prefix: "model.language_model.layers.N.self_attn.indexer."
    Indexer(WeightReader &weights, const std::string &prefix, int cacheIndex);

    // x [rows, hidden], qLatent [rows, qLoraRank]. Leaves the selection in workspace.index.
    void forward(std::span<const float> x, std::span<const float> qLatent,
                 std::span<const RowGroup> groups, RowClass rowClass, std::int64_t rows,
                 Workspace &workspace, kernels::Stream &stream) const;

    static kernels::IndexShape kernelShape(const ModelShape &shape);

private:
    void select(const RowGroup &group, Workspace &workspace, kernels::Stream &stream) const;

    int m_cacheIndex;
    kernels::IndexShape m_shape;
    LinearWeight m_query, m_key, m_weights;
    kernels::Matrix m_gate;
    std::vector<float> m_keyNorm, m_keyNormBias;
    std::vector<float> m_ape; // [pool, headDim]
};

} // namespace firesteel::engine
