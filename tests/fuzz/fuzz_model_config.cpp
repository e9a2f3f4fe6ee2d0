// SPDX-License-Identifier: MIT
//
// libFuzzer target: any text as config.json. An accepted config must be one that tables and
// products can be built from.
#include "engine/checkpoint/model_shape.h"
#include "engine/checkpoint/tensor_table.h"
#include "engine/state/sequence_memory.h"

#include <cstdint>
#include <cstdlib>

using namespace firesteel::engine;

namespace {

void require(bool condition)
{
    if (!condition)
        std::abort();
}

void checkShape(const ModelShape &shape)
{
    const auto layers = static_cast<std::size_t>(shape.layerCount);
    require(shape.attention.size() == layers && shape.mlp.size() == layers
            && shape.indexer.full.size() == layers);
    require(!shape.eosTokenIds.empty() && shape.hiddenSize % 8 == 0 && shape.hyper.streams == 4);
    require(shape.indexer.topK % shape.indexer.pool == 0);
    require(shape.moe.expertsPerToken <= shape.moe.experts);
    require(shape.rmsNormEps > 0 && shape.hyper.eps > 0 && shape.kda.gateLowerBound < 0);
    // Large tables are possible and only slow here.
    if (shape.layerCount * shape.moe.experts < 1000) {
        for (const ExpectedTensor &tensor : expectedTensors(shape)) {
            std::int64_t elements = 1;
            for (const std::int64_t size : tensor.shape)
                require(size > 0 && !__builtin_mul_overflow(elements, size, &elements));
        }
    }
    require(
        sequenceMemory(shape, shape.maxPositionEmbeddings, firesteel::kernels::DType::F32).total()
        > 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto report
        = parseModelConfig({ reinterpret_cast<const char *>(data), size }, "config.json");
    if (report)
        checkShape(report->shape);
    else
        require(!report.error().message.contains('\n'));
    return 0;
}
