// SPDX-License-Identifier: MIT
//
// libFuzzer target: any bytes as a .safetensors file. What is accepted must keep the promises of
// SafeTensors::parse.
#include "engine/checkpoint/safe_tensors.h"

#include <cstdint>
#include <cstdlib>

using namespace firesteel::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto file = std::as_bytes(std::span(data, size));
    const auto entries = SafeTensors::parse(file, "fuzz.safetensors");
    if (!entries) {
        if (entries.error().message.contains('\n'))
            std::abort(); // errors are one line
        return 0;
    }
    std::size_t covered = 0;
    for (const auto &[name, entry] : *entries) {
        std::uint64_t bytes = tensorTypeBytes(entry.type);
        for (const std::int64_t dimension : entry.shape)
            bytes *= static_cast<std::uint64_t>(dimension);
        const bool isInside = entry.bytes.data() >= file.data()
            && entry.bytes.data() + entry.bytes.size() <= file.data() + file.size();
        if (bytes != entry.bytes.size() || !isInside)
            std::abort();
        covered += entry.bytes.size();
    }
    if (covered > size)
        std::abort(); // tensors overlap
    return 0;
}
