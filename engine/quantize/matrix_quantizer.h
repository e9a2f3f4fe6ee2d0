// SPDX-License-Identifier: MIT
//
// A matrix to EXL3 (docs/quantization.md): scales and rotations that make it Gaussian, then LDLQ:
// sixteen rows at a time from the last, each moved by what the errors of the rows below it cost,
// each tile to its closest trellis path.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "engine/quantize/hessian.h"
#include "kernels/common/stream.h"
#include "kernels/exl3/exl3.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace firesteel::engine {

struct MatrixToQuantize
{
    std::string_view name; // seeds the random signs
    std::span<const float> weight; // [out, in] row-major, as a checkpoint stores it
    std::int32_t in = 0; // both multiples of 128
    std::int32_t out = 0;
    const Hessian *hessian = nullptr; // of the input; null or empty: the identity
};

struct QuantizedMatrix
{
    std::vector<std::uint16_t> trellis; // [in / 16, out / 16, 16 * rate]
    std::vector<std::uint16_t> suh; // F16 [in]
    std::vector<std::uint16_t> svh; // F16 [out]
    std::int32_t in = 0;
    std::int32_t out = 0;
    std::uint8_t rate = 0;
    kernels::Exl3Codebook codebook = kernels::Exl3Codebook::Mul1;

    double proxyError = 0; // tr(E H E^T) / tr(W H W^T) with the regularised Hessian
    double normalisedError = 0; // |E|^2 / |W|^2
    double scale = 0; // root mean square of what was searched, over that of the codebook

    kernels::Exl3Matrix view() const;
};

// Added to a Hessian's diagonal, in parts of its mean: the reference's value.
inline constexpr double kHessianRegularisation = 0.025;

// Matrices of equal `in`, in lockstep, so that the tiles of all of them fill a GPU or a pool: how
// they are grouped changes no result. Errors: Cancelled.
Result<std::vector<QuantizedMatrix>> quantizeMatrices(std::span<const MatrixToQuantize> matrices,
                                                      int rate, kernels::Exl3Codebook codebook,
                                                      kernels::Stream &stream,
                                                      const CancelToken &cancel);

// Both errors of any weights `approximate` [out, in] against the matrix, as above.
struct MatrixErrors
{
    double proxy = 0;
    double normalised = 0;
};
MatrixErrors matrixErrors(std::span<const float> approximate, const MatrixToQuantize &matrix,
                          kernels::ThreadPool &pool);

} // namespace firesteel::engine
