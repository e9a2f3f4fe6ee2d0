// SPDX-License-Identifier: MIT
#include "engine/quantize/tensor_values.h"

#include "engine/quantize/digest.h"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace firesteel::engine {

std::uint64_t tensorDigest(const TensorFolder &folder)
{
    Digest digest;
    for (const auto &[name, tensor] : folder.tensors()) {
        const TensorEntry &entry = *tensor.entry;
        digest.add(name);
        digest.add(tensorTypeName(entry.type));
        for (const std::int64_t size : entry.shape)
            digest.add(std::to_string(size));
        digest.add(entry.bytes);
    }
    return digest.value();
}

bool isPlainType(TensorType type)
{
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

std::vector<float> widenedValues(const TensorEntry &entry)
{
    std::vector<float> values(entry.bytes.size() / tensorTypeBytes(entry.type));
    if (entry.type == TensorType::F32) {
        std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
        return values;
    }
    if (!isPlainType(entry.type))
        throw std::logic_error("widenedValues: not a plain type");
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, entry.bytes.data() + i * sizeof bits, sizeof bits);
        values[i] = entry.type == TensorType::BF16
            ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U)
            : static_cast<float>(std::bit_cast<_Float16>(bits));
    }
    return values;
}

} // namespace firesteel::engine
