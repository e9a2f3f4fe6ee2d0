// SPDX-License-Identifier: MIT
#include "tests/support/exl3_vectors.h"

#include "tests/support/random_values.h"
#include "tests/support/test_paths.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace firesteel::test {

namespace {

engine::SafeTensors openVectors(std::string_view name)
{
    const std::string file = std::string(name) + ".safetensors";
    std::filesystem::path path = dataPath("exl3") / file;
    if (const auto golden = goldenDirectory()) {
        const auto full = *golden / ".." / ".." / "data" / "exl3-vectors" / file;
        if (std::filesystem::exists(full))
            path = full;
    }
    auto opened = engine::SafeTensors::open(path);
    if (!opened)
        throw std::runtime_error(opened.error().message);
    return std::move(*opened);
}

template <typename T> std::vector<T> copied(std::span<const std::byte> bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

std::uint64_t fnv1a(std::span<const std::byte> bytes)
{
    std::uint64_t value = 0xCBF29CE484222325;
    for (const std::byte byte : bytes)
        value = (value ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
    return value;
}

} // namespace

float widened(std::uint16_t half) { return static_cast<float>(std::bit_cast<_Float16>(half)); }

std::uint16_t halfBits(float value)
{
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

kernels::Exl3Matrix Exl3Host::matrix() const
{
    kernels::Exl3Matrix view = shape;
    view.trellis = trellis.data();
    view.suh = suh.data();
    view.svh = svh.data();
    view.bias = bias.empty() ? nullptr : bias.data();
    return view;
}

Exl3Placed::Exl3Placed(const Exl3Host &host, kernels::Stream &stream)
    : trellis(host.trellis, stream)
    , suh(host.suh, stream)
    , svh(host.svh, stream)
    , bias(host.bias, stream)
    , matrix(host.shape)
{
    matrix.trellis = trellis.span().data();
    matrix.suh = suh.span().data();
    matrix.svh = svh.span().data();
    matrix.bias = host.bias.empty() ? nullptr : bias.span().data();
}

Exl3Host randomExl3(std::uint64_t seed, std::int32_t in, std::int32_t out, int rate,
                    kernels::Exl3Codebook codebook, bool hasBias)
{
    RandomValues random(seed);
    Exl3Host host;
    host.shape.in = in;
    host.shape.out = out;
    host.shape.rate = static_cast<std::uint8_t>(rate);
    host.shape.codebook = codebook;
    host.trellis.resize(kernels::exl3TrellisBytes(host.shape) / 2);
    for (std::uint16_t &word : host.trellis)
        word = static_cast<std::uint16_t>(random.bits());
    // Decoded values have variance 1 to 1.55, so a sum over `in` of them is brought back by
    // 1 / sqrt(in).
    const float inputScale = 1 / std::sqrt(static_cast<float>(in));
    const auto scales = [&](std::int32_t count, float size) {
        std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
        for (std::uint16_t &value : values) {
            const float magnitude = random.uniform(0.5F, 1.5F) * size;
            value = halfBits(random.integer(0, 1) == 0 ? magnitude : -magnitude);
        }
        return values;
    };
    host.suh = scales(in, inputScale);
    host.svh = scales(out, 1);
    if (hasBias)
        host.bias = scales(out, 0.5F);
    return host;
}

std::string_view codebookName(kernels::Exl3Codebook codebook)
{
    switch (codebook) {
    case kernels::Exl3Codebook::ThreeInst:
        return "3inst";
    case kernels::Exl3Codebook::Mcg:
        return "mcg";
    case kernels::Exl3Codebook::Mul1:
        break;
    }
    return "mul1";
}

Exl3Vectors::Exl3Vectors(std::string_view file)
    : m_file(openVectors(file))
{
}

const engine::TensorEntry &Exl3Vectors::entry(std::string_view name) const
{
    const auto found = m_file.entries().find(name);
    if (found == m_file.entries().end())
        throw std::runtime_error(m_file.path().string() + " has no tensor " + std::string(name));
    return found->second;
}

const std::vector<std::int64_t> &Exl3Vectors::shape(std::string_view name) const
{
    return entry(name).shape;
}

std::vector<std::uint16_t> Exl3Vectors::bits(std::string_view name) const
{
    const engine::TensorEntry &tensor = entry(name);
    if (engine::tensorTypeBytes(tensor.type) != 2)
        throw std::runtime_error(std::string(name) + " is not of a 16-bit type");
    return copied<std::uint16_t>(tensor.bytes);
}

std::vector<float> Exl3Vectors::values(std::string_view name) const
{
    const engine::TensorEntry &tensor = entry(name);
    if (tensor.type == engine::TensorType::F32)
        return copied<float>(tensor.bytes);
    if (tensor.type != engine::TensorType::F16)
        throw std::runtime_error(std::string(name) + " is neither F16 nor F32");
    const auto halves = copied<std::uint16_t>(tensor.bytes);
    std::vector<float> values(halves.size());
    std::ranges::transform(halves, values.begin(), widened);
    return values;
}

std::vector<double> Exl3Vectors::doubles(std::string_view name) const
{
    const engine::TensorEntry &tensor = entry(name);
    if (tensor.type != engine::TensorType::F64)
        throw std::runtime_error(std::string(name) + " is not F64");
    return copied<double>(tensor.bytes);
}

std::vector<std::int32_t> Exl3Vectors::integers(std::string_view name) const
{
    const engine::TensorEntry &tensor = entry(name);
    if (tensor.type != engine::TensorType::I64)
        throw std::runtime_error(std::string(name) + " is not I64");
    const auto wide = copied<std::int64_t>(tensor.bytes);
    std::vector<std::int32_t> values(wide.size());
    std::ranges::transform(wide, values.begin(),
                           [](std::int64_t value) { return static_cast<std::int32_t>(value); });
    return values;
}

Exl3Host Exl3Vectors::matrix(std::string_view name, kernels::Exl3Codebook codebook,
                             std::optional<std::size_t> expert) const
{
    const std::string prefix(name);
    const auto part = [&](const char *suffix, std::size_t dimensions) {
        std::vector<std::uint16_t> all = bits(prefix + suffix);
        if (!expert)
            return all;
        const std::vector<std::int64_t> &sizes = shape(prefix + suffix);
        if (sizes.size() != dimensions + 1)
            throw std::runtime_error(prefix + suffix + " has no expert dimension");
        const std::size_t each = all.size() / static_cast<std::size_t>(sizes.front());
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(*expert * each);
        return std::vector<std::uint16_t>(begin, begin + static_cast<std::ptrdiff_t>(each));
    };
    Exl3Host host { .trellis = part(".trellis", 3),
                    .suh = part(".suh", 1),
                    .svh = part(".svh", 1),
                    .bias = {},
                    .shape = {} };
    host.shape.in = static_cast<std::int32_t>(host.suh.size());
    host.shape.out = static_cast<std::int32_t>(host.svh.size());
    host.shape.rate = static_cast<std::uint8_t>(shape(prefix + ".trellis").back() / 16);
    host.shape.codebook = codebook;
    return host;
}

bool Exl3Vectors::holds(std::string_view name, std::span<const std::uint16_t> actual) const
{
    if (contains(name)) {
        const std::vector<std::uint16_t> expected = bits(name);
        return actual.size() <= expected.size()
            && std::equal(actual.begin(), actual.end(), expected.begin());
    }
    const auto hash = copied<std::uint64_t>(entry(std::string(name) + ".fnv1a").bytes);
    return hash.front() == fnv1a(std::as_bytes(actual));
}

} // namespace firesteel::test
