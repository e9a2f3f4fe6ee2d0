// SPDX-License-Identifier: MIT
//
// EXL3 matrices for kernel tests: the reference vectors (tests/data/exl3/README.md; all of them
// where they lie beside the goldens, else the subset in the tree) and random ones of any size.
#pragma once

#include "engine/checkpoint/safe_tensors.h"
#include "kernels/exl3/exl3.h"
#include "tests/support/placed.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::test {

// A matrix in host memory.
struct Exl3Host
{
    std::vector<std::uint16_t> trellis, suh, svh, bias;
    kernels::Exl3Matrix shape; // sizes, rate and codebook; no pointers

    kernels::Exl3Matrix matrix() const; // a view of the vectors above
};

// A matrix where a stream runs, between guards.
struct Exl3Placed
{
    Exl3Placed(const Exl3Host &host, kernels::Stream &stream);

    Placed<std::uint16_t> trellis, suh, svh, bias;
    kernels::Exl3Matrix matrix;
};

// Random bits are a valid trellis. Scales of the size a quantizer gives: outputs are of the order
// of the inputs.
Exl3Host randomExl3(std::uint64_t seed, std::int32_t in, std::int32_t out, int rate,
                    kernels::Exl3Codebook codebook, bool hasBias = false);

inline constexpr kernels::Exl3Codebook kExl3Codebooks[]
    = { kernels::Exl3Codebook::ThreeInst, kernels::Exl3Codebook::Mcg, kernels::Exl3Codebook::Mul1 };
std::string_view codebookName(kernels::Exl3Codebook codebook); // "3inst", as the vectors spell it

// One file of the vectors. Errors, here and below: std::runtime_error.
class Exl3Vectors
{
public:
    // "codebook", "reconstruct", "layers", "moe" or "quant"
    explicit Exl3Vectors(std::string_view file);

    bool contains(std::string_view name) const { return m_file.entries().contains(name); }
    const std::vector<std::int64_t> &shape(std::string_view name) const;
    std::vector<std::uint16_t> bits(std::string_view name) const; // I16, F16
    std::vector<float> values(std::string_view name) const; // F16 (widened), F32
    std::vector<double> doubles(std::string_view name) const; // F64
    std::vector<std::int32_t> integers(std::string_view name) const; // I64

    // NAME.trellis, NAME.suh and NAME.svh; `expert` indexes their leading dimension.
    Exl3Host matrix(std::string_view name, kernels::Exl3Codebook codebook,
                    std::optional<std::size_t> expert = {}) const;

    // Whether these are the reference's bits: the tensor NAME, or in the subset its hash. With a
    // tensor of more rows than `bits` has, its first rows count.
    bool holds(std::string_view name, std::span<const std::uint16_t> bits) const;

private:
    const engine::TensorEntry &entry(std::string_view name) const;

    engine::SafeTensors m_file;
};

float widened(std::uint16_t half); // F16 bits to float32, exact
std::uint16_t halfBits(float value); // to the nearest F16, ties to even

} // namespace firesteel::test
