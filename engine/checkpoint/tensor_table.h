// SPDX-License-Identifier: MIT
//
// The tensors a glm5_next checkpoint has, by name, as its ModelShape implies them. Used to validate
// a folder before any of it is computed with and to say what a file's tensors belong to.
#pragma once

#include "engine/checkpoint/checkpoint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::engine {

enum class Component {
    Kda,
    Mla, // with its latent norms
    Indexer,
    DenseMlp,
    SharedExperts,
    RoutedExperts,
    Router,
    HyperConnections,
    Norms, // the layers' two and the final one
    Head,
    Embedding,
    Vision,
    Mtp,
    Unknown, // no glm5_next tensor
};
inline constexpr int kComponentCount = 14;

std::string_view componentName(Component component); // "routed experts"

struct ExpectedTensor
{
    std::string name; // where it is stored plainly
    std::vector<std::int64_t> shape; // as released: convolutions are [channels, 1, kernel]
    Component component = Component::Unknown;
    // y = x W^T, of the name "M.weight": may be stored as the EXL3 group M instead.
    bool isLinear = false;
    bool isDuplicate = false; // a copy that nobody reads: may be absent
    // How the published EXL3 pack stores it: bits per weight, or 0 and a plain type.
    int packRate = 0;
    TensorType packType = TensorType::BF16;

    std::string_view module() const; // the name without ".weight"
};

// What differs between the released checkpoint and the EXL3 pack beside the rates: the pack has
// KDA's q, k and v as one matrix and one convolution, and the vision tower's as three (and once
// more, unused, as one).
enum class TensorLayout { Released, Exl3Pack };

// Text, then the vision tower if config.json has one, then the MTP layers if it has any.
std::vector<ExpectedTensor> expectedTensors(const ModelShape &shape,
                                            TensorLayout layout = TensorLayout::Released);

// The same with each layer in the layout in which the checkpoint has it.
std::vector<ExpectedTensor> expectedTensors(const Checkpoint &checkpoint);

// Every way in which the checkpoint falls short of its table: a tensor missing, of another shape,
// neither plain nor a sound EXL3 group. The vision tower and the MTP layers may be absent, each as
// a whole. Tensors beyond the table are no problem.
std::vector<Error> tensorProblems(const Checkpoint &checkpoint);

// The first of these. Errors: BadCheckpoint.
Result<void> validateTensors(const Checkpoint &checkpoint);

} // namespace firesteel::engine
