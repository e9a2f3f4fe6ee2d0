// SPDX-License-Identifier: MIT
#include "engine/checkpoint/exl3_pack.h"

#include "kernels/exl3/exl3.h"

namespace firesteel::engine {

std::uint64_t PackTensor::bytes() const
{
    std::uint64_t product = tensorTypeBytes(type);
    for (const std::int64_t size : shape)
        product *= static_cast<std::uint64_t>(size);
    return product;
}

std::vector<PackTensor> exl3PackTensors(const ModelShape &shape)
{
    constexpr std::int64_t kTile = kernels::kExl3Tile;
    std::vector<PackTensor> result;
    for (ExpectedTensor &tensor : expectedTensors(shape, TensorLayout::Exl3Pack)) {
        if (tensor.packRate == 0) {
            result.push_back({ std::move(tensor.name), tensor.packType, std::move(tensor.shape),
                               tensor.component });
            continue;
        }
        const std::string module(tensor.module());
        const std::int64_t out = tensor.shape[0];
        const std::int64_t in = tensor.shape[1];
        const auto add = [&](const char *suffix, TensorType type, std::vector<std::int64_t> size) {
            result.push_back({ module + suffix, type, std::move(size), tensor.component });
        };
        add(".trellis", TensorType::I16, { in / kTile, out / kTile, kTile * tensor.packRate });
        add(".suh", TensorType::F16, { in });
        add(".svh", TensorType::F16, { out });
        add(".mul1", TensorType::I32, {});
    }
    return result;
}

} // namespace firesteel::engine
