// SPDX-License-Identifier: MIT
#include "engine/quantize/exl3_folder_writer.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/safe_tensors_writer.h"
#include "kernels/exl3/exl3_codec.h"

#include <algorithm>
#include <array>
#include <format>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace firesteel::engine {

namespace {

namespace fs = std::filesystem;
using kernels::Exl3Codebook;

constexpr std::uint64_t kShardBytes = std::uint64_t { 4 } << 30U;
constexpr std::uint64_t kAligned = 64;

enum class Part { Copy, Trellis, InputScales, OutputScales, Marker };

struct OutputTensor
{
    TensorHeader header;
    Part part = Part::Copy;
    const TensorEntry *entry = nullptr; // Copy
    const std::string *module = nullptr; // otherwise
};

// What fills whole cache lines first, so that every tensor of a file is aligned to its elements and
// trellises to 64 bytes; by name in each half.
std::vector<OutputTensor> outputTensors(const QuantizePlan &plan, Exl3Codebook codebook)
{
    constexpr std::int64_t kTile = kernels::kExl3Tile;
    std::vector<OutputTensor> tensors;
    tensors.reserve(plan.copies.size());
    for (const PlannedCopy &copy : plan.copies)
        tensors.push_back({ { copy.name, copy.entry->type, copy.entry->shape },
                            Part::Copy,
                            copy.entry,
                            nullptr });
    for (const PlannedMatrix &matrix : plan.matrices) {
        const auto add = [&](std::string_view suffix, TensorType type,
                             std::vector<std::int64_t> shape, Part part) {
            tensors.push_back({ { matrix.module + std::string(suffix), type, std::move(shape) },
                                part,
                                nullptr,
                                &matrix.module });
        };
        add(".trellis", TensorType::I16,
            { matrix.in / kTile, matrix.out / kTile, kTile * matrix.rate }, Part::Trellis);
        add(".suh", TensorType::F16, { matrix.in }, Part::InputScales);
        add(".svh", TensorType::F16, { matrix.out }, Part::OutputScales);
        if (codebook != Exl3Codebook::ThreeInst)
            add(codebook == Exl3Codebook::Mcg ? ".mcg" : ".mul1", TensorType::I32, {},
                Part::Marker);
    }
    std::ranges::sort(tensors, {}, [](const OutputTensor &tensor) {
        return std::pair(tensor.header.bytes() % kAligned != 0,
                         std::string_view(tensor.header.name));
    });
    return tensors;
}

std::vector<std::span<const OutputTensor>> shardsOf(std::span<const OutputTensor> tensors)
{
    std::vector<std::span<const OutputTensor>> shards;
    while (!tensors.empty()) {
        std::uint64_t bytes = tensors.front().header.bytes();
        std::size_t count = 1;
        while (count < tensors.size() && bytes + tensors[count].header.bytes() <= kShardBytes)
            bytes += tensors[count++].header.bytes();
        shards.push_back(tensors.first(count));
        tensors = tensors.subspan(count);
    }
    return shards;
}

class ShardWriter
{
public:
    ShardWriter(const Journal &journal, Exl3Codebook codebook)
        : m_journal(journal)
        , m_marker(codebook == Exl3Codebook::Mcg ? kernels::kExl3McgMultiplier
                                                 : kernels::kExl3Mul1Multiplier)
    {
    }

    Result<void> write(const fs::path &file, std::span<const OutputTensor> tensors)
    {
        std::vector<TensorHeader> headers;
        for (const OutputTensor &tensor : tensors)
            headers.push_back(tensor.header);
        auto writer = SafeTensorsWriter::create(file, headers);
        if (!writer)
            return std::unexpected(std::move(writer.error()));
        for (const OutputTensor &tensor : tensors) {
            const auto bytes = bytesOf(tensor);
            if (!bytes)
                return std::unexpected(bytes.error());
            if (auto written = writer->write(*bytes); !written)
                return written;
        }
        return writer->finish();
    }

private:
    Result<std::span<const std::byte>> bytesOf(const OutputTensor &tensor)
    {
        if (tensor.part == Part::Copy)
            return tensor.entry->bytes;
        if (tensor.part == Part::Marker)
            return std::as_bytes(std::span(&m_marker, 1));
        if (m_module != tensor.module) {
            auto matrix = m_journal.read(*tensor.module);
            if (!matrix)
                return std::unexpected(std::move(matrix.error()));
            m_matrix = std::move(*matrix);
            m_module = tensor.module;
        }
        const std::vector<std::uint16_t> &values = tensor.part == Part::Trellis ? m_matrix.trellis
            : tensor.part == Part::InputScales                                  ? m_matrix.suh
                                                                                : m_matrix.svh;
        return std::as_bytes(std::span(values));
    }

    const Journal &m_journal;
    std::uint32_t m_marker;
    const std::string *m_module = nullptr; // of m_matrix
    QuantizedMatrix m_matrix;
};

std::unexpected<Error> notWritten(const fs::path &path, const std::string &why)
{
    return fail(ErrorCode::Io,
                std::format("{}: cannot be written: {}", printable(path.string()), why));
}

Result<void> writeText(const fs::path &path, const std::string &text)
{
    fs::path part = path;
    part += ".part";
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    std::error_code error;
    if (file)
        fs::rename(part, path, error);
    if (!file || error)
        return notWritten(path, error ? error.message() : "the disk may be full");
    return {};
}

// Tokenizer, templates and processors: small files of text that say nothing about the weights.
Result<void> copyCompanions(const fs::path &source, const fs::path &target)
{
    constexpr std::array<std::string_view, 4> kExtensions { ".json", ".jinja", ".txt", ".model" };
    constexpr std::array<std::string_view, 3> kOwn { "config.json", "model.safetensors.index.json",
                                                     "quantization_config.json" };
    std::error_code error;
    for (fs::directory_iterator item(source, error), end; !error && item != end;
         item.increment(error)) {
        const fs::path name = item->path().filename();
        if (!item->is_regular_file(error) || std::ranges::contains(kOwn, name.string())
            || !std::ranges::contains(kExtensions, name.extension().string()))
            continue;
        fs::copy_file(item->path(), target / name, fs::copy_options::overwrite_existing, error);
        if (error)
            return notWritten(target / name, error.message());
        // Sources are often read-only; what was copied is the user's own.
        fs::permissions(target / name, fs::perms::owner_write, fs::perm_options::add, error);
    }
    if (error)
        return notWritten(target, error.message());
    return {};
}

} // namespace

std::string_view exl3CodebookName(Exl3Codebook codebook)
{
    switch (codebook) {
    case Exl3Codebook::ThreeInst:
        return "3inst";
    case Exl3Codebook::Mcg:
        return "mcg";
    case Exl3Codebook::Mul1:
        break;
    }
    return "mul1";
}

Result<std::uint64_t> writeExl3Folder(const fs::path &source, const fs::path &target,
                                      const QuantizePlan &plan, const Journal &journal,
                                      Exl3Codebook codebook, const std::string &config)
{
    const std::vector<OutputTensor> tensors = outputTensors(plan, codebook);
    const auto shards = shardsOf(tensors);
    ShardWriter writer(journal, codebook);
    nlohmann::ordered_json weightMap = nlohmann::ordered_json::object();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string name = shards.size() == 1
            ? "model.safetensors"
            : std::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        if (auto written = writer.write(target / name, shards[i]); !written)
            return std::unexpected(std::move(written.error()));
        for (const OutputTensor &tensor : shards[i]) {
            weightMap[tensor.header.name] = name;
            total += tensor.header.bytes();
        }
    }
    if (shards.size() > 1) {
        const nlohmann::ordered_json index
            = { { "metadata", { { "total_size", total } } }, { "weight_map", weightMap } };
        if (auto written = writeText(target / "model.safetensors.index.json", index.dump(2) + "\n");
            !written)
            return std::unexpected(std::move(written.error()));
    }
    if (auto copied = copyCompanions(source, target); !copied)
        return std::unexpected(std::move(copied.error()));
    if (auto written = writeText(target / "config.json", config); !written)
        return std::unexpected(std::move(written.error()));
    return total;
}

} // namespace firesteel::engine
