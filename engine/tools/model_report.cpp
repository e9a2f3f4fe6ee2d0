// SPDX-License-Identifier: MIT
#include "engine/tools/model_report.h"

#include <algorithm>
#include <charconv>
#include <format>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>

namespace firesteel::engine {

namespace {

void count(ModelReport::Part &part, const TensorEntry &entry)
{
    part.tensors += 1;
    part.parameters += entry.bytes.size() / tensorTypeBytes(entry.type);
    part.bytes += entry.bytes.size();
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

std::string fileName(const Checkpoint::Tensor &tensor) { return tensor.file->filename().string(); }

} // namespace

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
    ModelReport report;
    std::unordered_map<std::string, Component> components;
    for (ExpectedTensor &tensor : expectedTensors(checkpoint.shape()))
        components.emplace(std::move(tensor.name), tensor.component);
    for (const auto &[name, tensor] : checkpoint.tensors()) {
        const auto found = components.find(name);
        const bool isKnown = found != components.end();
        const Component component = isKnown ? found->second : Component::Unknown;
        count(report.parts.at(static_cast<std::size_t>(component)), *tensor.entry);
        count(report.total, *tensor.entry);
        if (!isKnown)
            report.unexpected.push_back(name);
    }
    report.problems = tensorProblems(checkpoint);
    for (const int tokens : contexts)
        report.contexts.push_back({ .tokens = tokens,
                                    .compact = compactSequenceMemory(checkpoint.shape(), tokens),
                                    .cpu = sequenceMemory(checkpoint.shape(), tokens) });
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
