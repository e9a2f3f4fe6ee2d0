// SPDX-License-Identifier: MIT
//
// The tensors a glm5_next checkpoint has, by released name, as its ModelShape implies them. Used to
// validate a folder before any of it is computed with and to say what a file's tensors belong to.
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
    std::string name;
    std::vector<std::int64_t> shape; // as released: convolutions are [channels, 1, kernel]
    Component component = Component::Unknown;
};

// Text, then the vision tower if config.json has one, then the MTP layers if it has any.
std::vector<ExpectedTensor> expectedTensors(const ModelShape &shape);

// Every way in which the checkpoint falls short of its table: a tensor missing, of another shape or
// of a dtype that is not plain. The vision tower and the MTP layers may be absent, each as a whole.
// Tensors beyond the table are no problem.
std::vector<Error> tensorProblems(const Checkpoint &checkpoint);

// The first of these. Errors: BadCheckpoint.
Result<void> validateTensors(const Checkpoint &checkpoint);

} // namespace firesteel::engine
