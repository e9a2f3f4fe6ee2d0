// SPDX-License-Identifier: MIT
//
// One latent-attention sublayer: low-rank query, latent cache, sparse selection, absorbed
// attention.
#pragma once

#include "engine/model/indexer.h"
#include "engine/model/step_tables.h"
#include "engine/model/weight_reader.h"
#include "engine/model/workspace.h"
#include "kernels/common/stream.h"
#include "kernels/mla/mla.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace firesteel::engine {

class MlaLayer
{
public:
    // prefix: "model.language_model.layers.N.self_attn."; cacheIndex: of this layer's KvCache in a
    // SequenceState. Without an indexer of its own the layer attends to what the previous one
    // selected.
    MlaLayer(WeightReader &weights, const std::string &prefix, int cacheIndex, bool hasIndexer);

    // y, x [rows, hidden]. Writes the rows' latents and index keys into the caches of the step's
    // sequences.
    void forward(std::span<float> y, std::span<const float> x, const StepTables &tables,
                 RowClass rowClass, Workspace &workspace, kernels::Stream &stream) const;

    static kernels::MlaShape kernelShape(const ModelShape &shape);

private:
    int m_cacheIndex;
    kernels::MlaShape m_shape;
    std::int64_t m_maxSelected;
    float m_normEps;
    LinearWeight m_queryA, m_queryB, m_kvA, m_output;
    LinearWeight m_kvB; // plain: its parts are multiplied with separately
    kernels::Buffer<float> m_queryNorm, m_kvNorm;
    std::optional<Indexer> m_indexer;
};

} // namespace firesteel::engine
