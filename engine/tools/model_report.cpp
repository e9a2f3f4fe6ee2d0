// SPDX-License-Identifier: MIT
#include "engine/tools/model_report.h"

#include "engine/checkpoint/exl3_group.h"
#include "engine/checkpoint/exl3_pack.h"

#include <algorithm>
#include <charconv>
#include <format>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace firesteel::engine {

namespace {

// Weights, not the numbers that store them: a trellis has 256 in each of its tiles, the other
// tensors of its group none.
std::uint64_t parametersOf(std::string_view name, const TensorEntry &entry, bool isGroup)
{
    if (!isGroup)
        return entry.bytes.size() / tensorTypeBytes(entry.type);
    if (!name.ends_with(".trellis") || entry.shape.size() != 3)
        return 0;
    return static_cast<std::uint64_t>(entry.shape[0]) * static_cast<std::uint64_t>(entry.shape[1])
        * kernels::kExl3Tile * kernels::kExl3Tile;
}

using Numbers = std::set<unsigned>;

// {0, 1, 2, 4} -> "{0-2,4}"; a single one stays bare.
std::string rangesText(const Numbers &numbers)
{
    if (numbers.size() == 1)
        return std::to_string(*numbers.begin());
    std::string text;
    for (auto item = numbers.begin(); item != numbers.end();) {
        const unsigned first = *item;
        unsigned last = first;
        ++item;
        for (; item != numbers.end() && *item == last + 1; ++item)
            last = *item;
        text += std::format("{}{}", text.empty() ? "{" : ",", first);
        if (last > first)
            text += std::format("-{}", last);
    }
    return text + "}";
}

// Cuts the numeric segments out of a dotted name: the pattern has '*' in their place.
std::string patternOf(std::string_view name, std::vector<unsigned> &numbers)
{
    std::string pattern;
    for (const auto part : name | std::views::split('.')) {
        const std::string_view segment(part);
        unsigned number = 0;
        const auto [end, error]
            = std::from_chars(segment.data(), segment.data() + segment.size(), number);
        const bool isNumber = error == std::errc {} && end == segment.data() + segment.size();
        if (isNumber)
            numbers.push_back(number);
        pattern += pattern.empty() ? "" : ".";
        pattern += isNumber ? std::string_view("*") : segment;
    }
    return pattern;
}

struct Collected
{
    std::vector<Numbers> numbers; // per '*' of the pattern
    std::set<std::string> files;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

std::string filledPattern(std::string_view pattern, const std::vector<Numbers> &numbers)
{
    std::string name;
    std::size_t next = 0;
    for (const char character : pattern) {
        if (character == '*' && next < numbers.size())
            name += rangesText(numbers[next++]);
        else
            name += character;
    }
    return name;
}

std::string kindText(TensorType type, const std::vector<std::int64_t> &shape)
{
    std::string text = std::format("{} {}", tensorTypeName(type), shapeText(shape));
    if (type == TensorType::I16 && shape.size() == 3)
        text += std::format(" ({} bits)", static_cast<double>(shape[2]) / kernels::kExl3Tile);
    return text;
}

// Lines about tensors whose names differ in numbers only, as one.
class DifferenceList
{
public:
    void add(std::string_view name, const std::string &what)
    {
        std::vector<unsigned> numbers;
        auto &group = m_groups[{ patternOf(name, numbers), what }];
        group.numbers.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i)
            group.numbers[i].insert(numbers[i]);
    }

    std::vector<std::string> lines() const
    {
        std::vector<std::string> result;
        result.reserve(m_groups.size());
        for (const auto &[key, group] : m_groups)
            result.push_back(
                std::format("{}: {}", filledPattern(key.first, group.numbers), key.second));
        return result;
    }

private:
    std::map<std::pair<std::string, std::string>, Collected> m_groups;
};

std::vector<std::string> packDifferences(const Checkpoint &checkpoint)
{
    const ModelShape &shape = checkpoint.shape();
    if (!checkpoint.isExl3() || shape.hiddenSize != 4096 || shape.moe.experts != 288)
        return {};
    DifferenceList differences;
    std::set<std::string, std::less<>> names;
    for (const PackTensor &expected : exl3PackTensors(shape)) {
        const auto found = checkpoint.tensors().find(expected.name);
        if (found == checkpoint.tensors().end()) {
            differences.add(expected.name,
                            "missing; the pack has " + kindText(expected.type, expected.shape));
        } else if (const TensorEntry &entry = *found->second.entry;
                   entry.type != expected.type || entry.shape != expected.shape) {
            differences.add(expected.name,
                            std::format("{}; the pack has {}", kindText(entry.type, entry.shape),
                                        kindText(expected.type, expected.shape)));
        }
        names.insert(expected.name);
    }
    for (const auto &[name, tensor] : checkpoint.tensors())
        if (!names.contains(name))
            differences.add(name,
                            kindText(tensor.entry->type, tensor.entry->shape)
                                + "; the pack has no such tensor");
    return differences.lines();
}

std::string fileName(const Checkpoint::Tensor &tensor) { return tensor.file->filename().string(); }

} // namespace

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text;
    for (const std::int64_t size : shape)
        text += std::format("{}{}", text.empty() ? "" : " x ", size);
    return text.empty() ? "scalar" : text;
}

SequenceMemory compactSequenceMemory(const ModelShape &shape, int contextTokens)
{
    constexpr std::uint64_t kBf16 = 2;
    constexpr std::uint64_t kFloat32 = 4;
    const auto context = static_cast<std::uint64_t>(contextTokens);
    const auto dim = static_cast<std::uint64_t>(shape.kda.headDim);
    const std::uint64_t channels = static_cast<std::uint64_t>(shape.kda.heads) * dim;
    const auto taps = static_cast<std::uint64_t>(shape.kda.convKernel - 1);
    const auto pool = static_cast<std::uint64_t>(shape.indexer.pool);
    const auto indexDim = static_cast<std::uint64_t>(shape.indexer.headDim);
    SequenceMemory sum;
    for (std::size_t layer = 0; layer < shape.attention.size(); ++layer) {
        if (shape.attention[layer] == AttentionKind::Kda) {
            sum.kdaState += channels * dim * kFloat32;
            sum.kdaWindow += taps * 3 * channels * kBf16;
            continue;
        }
        sum.latents += context * static_cast<std::uint64_t>(shape.mla.kvLoraRank) * kBf16;
        if (!shape.indexer.full[layer])
            continue;
        sum.pooledKeys += context / pool * indexDim * kBf16;
        sum.indexTails += (pool - 1) * 2 * indexDim * kBf16; // key and gate of an open pool
    }
    return sum;
}

ModelReport reportOn(const Checkpoint &checkpoint, std::span<const int> contexts)
{
    struct Owner
    {
        Component component = Component::Unknown;
        bool isGroup = false; // the name is a part of an EXL3 module
    };
    ModelReport report;
    std::unordered_map<std::string, Owner> owners;
    for (const ExpectedTensor &tensor : expectedTensors(checkpoint)) {
        const std::string module(tensor.module());
        if (!tensor.isLinear || !hasExl3Group(checkpoint, module)) {
            owners.try_emplace(tensor.name, Owner { tensor.component, false });
            continue;
        }
        auto &rates = report.rates.at(static_cast<std::size_t>(tensor.component));
        const auto group = findExl3Group(checkpoint, module);
        if (group)
            ++rates[group->rate].modules;
        const auto claim = [&](const std::string &name) {
            const auto found = checkpoint.tensors().find(name);
            if (found == checkpoint.tensors().end())
                return;
            owners.insert_or_assign(name, Owner { tensor.component, true });
            if (group)
                rates[group->rate].bytes += found->second.entry->bytes.size();
        };
        for (const std::string_view suffix : kExl3Suffixes)
            claim(module + std::string(suffix));
        claim(module + ".bias");
    }
    for (const auto &[name, tensor] : checkpoint.tensors()) {
        const auto found = owners.find(name);
        const bool isKnown = found != owners.end();
        const Owner owner = isKnown ? found->second : Owner {};
        for (ModelReport::Part *part :
             { &report.parts.at(static_cast<std::size_t>(owner.component)), &report.total }) {
            part->tensors += 1;
            part->parameters
                += parametersOf(name, *tensor.entry, owner.isGroup && !name.ends_with(".bias"));
            part->bytes += tensor.entry->bytes.size();
        }
        if (!isKnown)
            report.unexpected.push_back(name);
    }
    report.packDifferences = packDifferences(checkpoint);
    report.problems = tensorProblems(checkpoint);
    for (const int tokens : contexts)
        report.contexts.push_back(
            { .tokens = tokens,
              .compact = compactSequenceMemory(checkpoint.shape(), tokens),
              .cpu = sequenceMemory(checkpoint.shape(), tokens, kernels::DType::F32) });
    return report;
}

std::vector<TensorGroup> groupTensors(const Checkpoint &checkpoint, bool collapse)
{
    using Key = std::tuple<std::string, TensorType, std::vector<std::int64_t>>;
    std::map<Key, Collected> groups;
    for (const auto &[name, tensor] : checkpoint.tensors()) {
        std::vector<unsigned> numbers;
        const std::string pattern = collapse ? patternOf(name, numbers) : name;
        Collected &group = groups[Key(pattern, tensor.entry->type, tensor.entry->shape)];
        group.numbers.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i)
            group.numbers[i].insert(numbers[i]);
        group.files.insert(fileName(tensor));
        group.count += 1;
        group.bytes += tensor.entry->bytes.size();
    }
    std::vector<TensorGroup> result;
    for (const auto &[key, group] : groups) {
        const auto &[pattern, type, shape] = key;
        result.push_back({ .name = filledPattern(pattern, group.numbers),
                           .type = type,
                           .shape = shape,
                           .count = group.count,
                           .bytes = group.bytes,
                           .file = group.files.size() == 1
                               ? *group.files.begin()
                               : std::format("{} files", group.files.size()) });
    }
    return result;
}

} // namespace firesteel::engine
