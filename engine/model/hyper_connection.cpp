// SPDX-License-Identifier: MIT
#include "engine/model/hyper_connection.h"

#include "kernels/norm/norm.h"

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

void HyperConnection::enter(std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const
{
    kernels::launchHyperMix(workspace.post, workspace.combination, workspace.input,
                            workspace.streams, { m_fn, m_base, m_scale }, m_shape, rows, stream);
    kernels::launchRmsNorm(workspace.input, workspace.input, m_norm, m_shape.rmsEps, rows, stream);
}

void HyperConnection::leave(std::int64_t rows, Workspace &workspace, kernels::Stream &stream) const
{
    kernels::launchHyperExpand(workspace.streams, workspace.output, workspace.post,
                               workspace.combination, m_shape, rows, stream);
}

} // namespace firesteel::engine
