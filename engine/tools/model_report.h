// SPDX-License-Identifier: MIT
//
// The facts that inspect prints, collected from a checkpoint.
#pragma once

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/state/sequence_memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

struct ModelReport
{
    struct Part
    {
        std::uint64_t tensors = 0;
        std::uint64_t parameters = 0;
        std::uint64_t bytes = 0;
    };
    std::array<Part, kComponentCount> parts {}; // by Component
    Part total;

    struct Exl3Part
    {
        std::uint64_t modules = 0;
        std::uint64_t bytes = 0; // trellis, scales, bias and marker
    };
    std::array<std::map<int, Exl3Part>, kComponentCount> rates; // by Component and bits per weight

    std::vector<std::string> unexpected; // tensors that glm5_next does not have
    std::vector<Error> problems; // tensors missing or wrong
    // An EXL3 checkpoint of GLM-5.3-Flash, all or some of its layers: how its tensors differ from
    // those of the published pack. Collapsed like groupTensors.
    std::vector<std::string> packDifferences;

    struct Context
    {
        int tokens = 0;
        SequenceMemory compact; // caches in BF16, recurrent state in float32: what a GPU needs
        SequenceMemory cpu; // what the CPU backend allocates
    };
    std::vector<Context> contexts;
};

// One sequence's memory with BF16 caches and windows, the pools' open tokens only in the tails.
SequenceMemory compactSequenceMemory(const ModelShape &shape, int contextTokens);

ModelReport reportOn(const Checkpoint &checkpoint, std::span<const int> contexts);

// "3 x 4"; "scalar" without a dimension.
std::string shapeText(const std::vector<std::int64_t> &shape);

// Tensors that differ only in numbers of their names and are alike otherwise, as one line:
// "layers.{0-2,4}.mlp.gate.weight".
struct TensorGroup
{
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::string file; // its name, or how many
};
std::vector<TensorGroup> groupTensors(const Checkpoint &checkpoint, bool collapse);

} // namespace firesteel::engine
