// SPDX-License-Identifier: MIT
#include "engine/checkpoint/exl3_group.h"

#include "engine/base/printable.h"
#include "kernels/exl3/exl3_codec.h"

#include <algorithm>
#include <cstring>
#include <format>
#include <string>

namespace firesteel::engine {

namespace {

constexpr std::int64_t kTile = kernels::kExl3Tile;
constexpr std::int64_t kBlock = kernels::kExl3Block;

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text = "[";
    for (const std::int64_t size : shape)
        text += std::format("{}{}", text.size() > 1 ? ", " : "", size);
    return text + "]";
}

// Reads one module; every failure is a sentence about a tensor in its file.
class GroupReader
{
public:
    GroupReader(const TensorFolder &folder, std::string_view module)
        : m_folder(folder)
        , m_module(module)
    {
    }

    Result<Exl3Group> read()
    {
        Exl3Group group;
        if (auto result = refuseStrangers(); !result)
            return std::unexpected(std::move(result.error()));
        if (auto result = readTrellis(group); !result)
            return std::unexpected(std::move(result.error()));
        if (auto result = readScales(".suh", ".su", group.in, group.suh); !result)
            return std::unexpected(std::move(result.error()));
        if (auto result = readScales(".svh", ".sv", group.out, group.svh); !result)
            return std::unexpected(std::move(result.error()));
        if (auto result = readBias(group); !result)
            return std::unexpected(std::move(result.error()));
        if (auto result = readCodebook(group); !result)
            return std::unexpected(std::move(result.error()));
        return group;
    }

private:
    std::string name(std::string_view suffix) const { return std::string(m_module) += suffix; }

    const TensorFolder::Tensor *find(std::string_view suffix) const
    {
        const auto found = m_folder.tensors().find(name(suffix));
        return found == m_folder.tensors().end() ? nullptr : &found->second;
    }

    std::unexpected<Error> problem(std::string_view suffix, std::string_view what,
                                   ErrorCode code = ErrorCode::BadCheckpoint) const
    {
        const TensorFolder::Tensor *tensor = find(suffix);
        const std::string place
            = tensor != nullptr ? tensor->file->string() : m_folder.directory().string();
        return fail(
            code,
            std::format("{}: tensor \"{}\" {}", printable(place), printable(name(suffix)), what));
    }

    // What says that the module is something else, or twice there.
    Result<void> refuseStrangers() const
    {
        if (find(".scale") != nullptr)
            return problem(".scale", "belongs to no EXL3 version that this build reads");
        if (find(".weight") != nullptr)
            return problem(".weight", "is there beside an EXL3 group of the same module");
        return {};
    }

    Result<void> readTrellis(Exl3Group &group) const
    {
        const TensorFolder::Tensor *tensor = find(".trellis");
        if (tensor == nullptr)
            return problem(".trellis", "is missing, but others of its EXL3 group are there");
        const TensorEntry &entry = *tensor->entry;
        if (entry.type != TensorType::I16)
            return problem(".trellis",
                           std::format("has dtype {}, expected I16", tensorTypeName(entry.type)));
        if (entry.shape.size() != 3)
            return problem(".trellis",
                           std::format("has shape {}, expected [in / 16, out / 16, 16 * rate]",
                                       shapeText(entry.shape)));
        const std::int64_t words = entry.shape[2];
        if (words % kTile == kTile / 2 && words / kTile < kernels::kExl3MaxRate)
            return problem(".trellis",
                           std::format("stores {}.5 bits per weight; this build reads EXL3 rates "
                                       "of 1 to 8 whole bits",
                                       words / kTile),
                           ErrorCode::UnsupportedModel);
        if (words % kTile != 0 || words < kTile || words > kTile * kernels::kExl3MaxRate)
            return problem(".trellis",
                           std::format("has {} words a tile, which is no EXL3 rate (16 words for "
                                       "each of 1 to 8 bits)",
                                       words));
        constexpr std::int64_t kMaxTiles = (1 << 30) / kTile; // sizes fit 32 bits
        for (const std::int64_t tiles : { entry.shape[0], entry.shape[1] })
            if (tiles < 1 || tiles > kMaxTiles || tiles * kTile % kBlock != 0)
                return problem(".trellis",
                               std::format("has shape {}, so a size of {}; EXL3 sizes are "
                                           "multiples of 128",
                                           shapeText(entry.shape), tiles * kTile));
        group.trellis = *tensor;
        group.in = entry.shape[0] * kTile;
        group.out = entry.shape[1] * kTile;
        group.rate = static_cast<int>(words / kTile);
        return {};
    }

    Result<void> expect(std::string_view suffix, const TensorEntry &entry, TensorType type,
                        std::int64_t size) const
    {
        if (entry.type != type)
            return problem(suffix,
                           std::format("has dtype {}, expected {}", tensorTypeName(entry.type),
                                       tensorTypeName(type)));
        if (entry.shape != std::vector { size })
            return problem(
                suffix, std::format("has shape {}, expected [{}]", shapeText(entry.shape), size));
        return {};
    }

    Result<void> readScales(std::string_view suffix, std::string_view oldSuffix, std::int64_t size,
                            TensorFolder::Tensor &scales) const
    {
        const TensorFolder::Tensor *tensor = find(suffix);
        const TensorFolder::Tensor *signs = find(oldSuffix);
        if (tensor != nullptr && signs != nullptr)
            return problem(oldSuffix, std::format("is there beside \"{}\"", name(suffix)));
        if (tensor == nullptr && signs == nullptr)
            return problem(suffix, "is missing, but others of its EXL3 group are there");
        scales = tensor != nullptr ? *tensor : *signs;
        if (tensor != nullptr)
            return expect(suffix, *tensor->entry, TensorType::F16, size);
        return expect(oldSuffix, *signs->entry, TensorType::I16, size / kTile);
    }

    Result<void> readBias(Exl3Group &group) const
    {
        const TensorFolder::Tensor *tensor = find(".bias");
        if (tensor == nullptr)
            return {};
        const std::int64_t shape[] = { group.out };
        if (auto result = m_folder.checkPlain(name(".bias"), shape); !result)
            return result;
        group.bias = *tensor;
        return {};
    }

    Result<void> readCodebook(Exl3Group &group) const
    {
        const TensorFolder::Tensor *mcg = find(".mcg");
        const TensorFolder::Tensor *mul1 = find(".mul1");
        if (mcg != nullptr && mul1 != nullptr)
            return problem(".mul1", std::format("is there beside \"{}\"", name(".mcg")));
        if (mcg != nullptr) {
            group.codebook = kernels::Exl3Codebook::Mcg;
            return checkMarker(".mcg", *mcg->entry, kernels::kExl3McgMultiplier);
        }
        if (mul1 != nullptr) {
            group.codebook = kernels::Exl3Codebook::Mul1;
            return checkMarker(".mul1", *mul1->entry, kernels::kExl3Mul1Multiplier);
        }
        group.codebook = kernels::Exl3Codebook::ThreeInst;
        return {};
    }

    // The marker holds the codebook's multiplier, of which there has only been one.
    Result<void> checkMarker(std::string_view suffix, const TensorEntry &entry,
                             std::uint32_t expected) const
    {
        std::uint32_t value = 0;
        if (entry.type != TensorType::I32 || entry.bytes.size() != sizeof value)
            return problem(suffix,
                           std::format("has dtype {} and shape {}, expected one I32",
                                       tensorTypeName(entry.type), shapeText(entry.shape)));
        std::memcpy(&value, entry.bytes.data(), sizeof value);
        if (value != expected)
            return problem(
                suffix,
                std::format("is 0x{:08X}: an unknown codebook; this build knows 0x{:08X}", value,
                            expected));
        return {};
    }

    const TensorFolder &m_folder;
    std::string_view m_module;
};

} // namespace

bool hasExl3Group(const TensorFolder &folder, std::string_view module)
{
    // One search for a whole group: a pack has 150,000 tensors.
    const auto &tensors = folder.tensors();
    for (auto item = tensors.lower_bound(std::string(module) += '.'); item != tensors.end()
         && item->first.starts_with(module) && item->first[module.size()] == '.';
         ++item)
        if (std::ranges::contains(kExl3Suffixes,
                                  std::string_view(item->first).substr(module.size())))
            return true;
    return false;
}

Result<Exl3Group> findExl3Group(const TensorFolder &folder, std::string_view module)
{
    return GroupReader(folder, module).read();
}

Result<Exl3Group> findExl3Group(const TensorFolder &folder, std::string_view module,
                                std::int64_t out, std::int64_t in)
{
    auto group = findExl3Group(folder, module);
    if (group && (group->out != out || group->in != in))
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: tensor \"{}.trellis\" holds {} x {} weights, expected {} x {} "
                                "(in x out)",
                                printable(group->trellis.file->string()), printable(module),
                                group->in, group->out, in, out));
    return group;
}

} // namespace firesteel::engine
