// SPDX-License-Identifier: MIT
#include "engine/model/hyper_connection.h"

namespace firesteel::engine {

kernels::HyperShape hyperShape(const ModelShape &shape)
{
    return { .hidden = shape.hiddenSize,
             .sinkhornIterations = shape.hyper.sinkhornIterations,
             .rmsEps = shape.rmsNormEps,
             .eps = shape.hyper.eps };
}

HyperConnection::HyperConnection(WeightReader &weights, const std::string &site,
                                 const std::string &norm)
    : m_shape(hyperShape(weights.shape()))
{
    m_fn = weights.matrix(site + "_fn",
                          { kernels::kHyperMixes, kernels::kHyperStreams * m_shape.hidden });
    m_base = weights.values(site + "_base", { kernels::kHyperMixes });
    m_scale = weights.values(site + "_scale", { 3 });
    m_norm = weights.values(norm, { m_shape.hidden });
}

void HyperConnection::enter(const kernels::HyperUpdate &owed, std::int64_t rows,
                            Workspace &workspace, kernels::Stream &stream) const
{
    kernels::launchHyperEnter(workspace.input, { workspace.post, workspace.combination },
                              workspace.streams, owed, { m_fn, m_base, m_scale, m_norm },
                              workspace.scratch, m_shape, rows, stream);
}

kernels::HyperUpdate HyperConnection::owed(const Workspace &workspace,
                                           std::span<const float> addend)
{
    return { .y = workspace.output,
             .addend = addend,
             .mixing = { workspace.post, workspace.combination } };
}

} // namespace firesteel::engine
