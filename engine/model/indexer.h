// SPDX-License-Identifier: MIT
//
// The indexer of an MLA layer: scores pooled keys and chooses the tokens each query attends to.
#pragma once

#include "engine/model/step_tables.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/mla/mla.h"

#include <cstdint>
#include <span>
#include <string>

namespace firesteel::engine {

class Indexer
{
public:
    // prefix: "model.language_model.layers.N.self_attn.indexer."
    Indexer(WeightReader &weights, const std::string &prefix, int cacheIndex);

    // x [rows, hidden], qLatent [rows, qLoraRank]. Leaves the selection in the workspace.
    void forward(std::span<const float> x, std::span<const float> qLatent, const StepTables &tables,
                 RowClass rowClass, Workspace &workspace, kernels::Stream &stream) const;

    static kernels::IndexShape kernelShape(const ModelShape &shape);
    static kernels::Selection selection(const Workspace &workspace, std::int64_t maxSelected);

private:
    int m_cacheIndex;
    kernels::IndexShape m_shape;
    LinearWeight m_query, m_key, m_gate, m_weights;
    kernels::Buffer<float> m_keyNorm, m_keyNormBias;
    kernels::Buffer<float> m_ape; // [pool, headDim]
};

} // namespace firesteel::engine
