// SPDX-License-Identifier: MIT
#include "engine/checkpoint/tensor_folder.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/direct_reader.h"
#include "engine/checkpoint/exl3_group.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <format>
#include <functional>
#include <optional>
#include <ranges>
#include <system_error>
#include <utility>

namespace firesteel::engine {

namespace {

namespace fs = std::filesystem;

std::string shapeText(std::ranges::input_range auto &&shape)
{
    std::string text = "[";
    for (const std::int64_t size : shape)
        text += std::format("{}{}", text.size() > 1 ? ", " : "", size);
    return text + "]";
}

std::optional<kernels::DType> plainType(TensorType type)
{
    switch (type) {
    case TensorType::BF16:
        return kernels::DType::BF16;
    case TensorType::F16:
        return kernels::DType::F16;
    case TensorType::F32:
        return kernels::DType::F32;
    default:
        return std::nullopt;
    }
}

bool sameUnlessSqueezed(std::span<const std::int64_t> a, std::span<const std::int64_t> b)
{
    const auto notOne = std::views::filter([](std::int64_t size) { return size != 1; });
    return std::ranges::equal(a | notOne, b | notOne);
}

// Old EXL3 files: one bit a value, set for -1, the least significant first.
std::vector<std::uint16_t> scalesOfSigns(std::span<const std::uint16_t> words)
{
    constexpr std::uint16_t kOne = 0x3C00; // as F16
    constexpr std::uint16_t kMinusOne = 0xBC00;
    std::vector<std::uint16_t> scales;
    scales.reserve(words.size() * 16);
    for (const std::uint16_t word : words)
        for (unsigned bit = 0; bit < 16; ++bit)
            scales.push_back((word >> bit & 1U) != 0 ? kMinusOne : kOne);
    return scales;
}

// A plain vector rounded to F16.
std::vector<std::uint16_t> halvesOf(const TensorEntry &entry)
{
    const std::size_t bytes = tensorTypeBytes(entry.type);
    std::vector<std::uint16_t> halves(entry.bytes.size() / bytes);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, entry.bytes.data() + i * bytes, bytes);
        if (entry.type == TensorType::BF16)
            bits <<= 16U;
        halves[i] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(std::bit_cast<float>(bits)));
    }
    return halves;
}

} // namespace

Result<std::vector<fs::path>> safeTensorsFiles(const fs::path &directory)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator item(directory, error), end; !error && item != end;
         item.increment(error)) {
        if (item->path().extension() == ".safetensors")
            files.push_back(item->path());
    }
    if (error)
        return fail(error == std::errc::no_such_file_or_directory ? ErrorCode::NotFound
                                                                  : ErrorCode::Io,
                    std::format("{}: cannot list the folder: {}", printable(directory.string()),
                                error.message()));
    if (files.empty())
        return fail(ErrorCode::NotFound,
                    std::format("{}: has no .safetensors file", printable(directory.string())));
    std::ranges::sort(files);
    return files;
}

TensorFolder::TensorFolder(fs::path directory)
    : m_directory(std::move(directory))
{
}

Result<TensorFolder> TensorFolder::open(const fs::path &directory)
{
    const auto files = safeTensorsFiles(directory);
    if (!files)
        return std::unexpected(files.error());
    TensorFolder folder(directory);
    for (const fs::path &file : *files)
        if (auto added = folder.addFile(file); !added)
            return std::unexpected(std::move(added.error()));
    return folder;
}

Result<void> TensorFolder::addFile(const fs::path &path)
{
    auto opened = SafeTensors::open(path);
    if (!opened)
        return std::unexpected(std::move(opened.error()));
    const SafeTensors &file = m_files.emplace_back(std::move(*opened));
    for (const auto &[name, entry] : file.entries()) {
        const auto [other, isNew] = m_tensors.try_emplace(name, Tensor { &entry, &file.path() });
        if (!isNew)
            return fail(ErrorCode::BadCheckpoint,
                        std::format("{}: tensor \"{}\" is also in {}", printable(path.string()),
                                    printable(name),
                                    printable(other->second.file->filename().string())));
    }
    return {};
}

bool TensorFolder::contains(std::string_view name) const { return m_tensors.contains(name); }

Result<void> TensorFolder::checkPlain(std::string_view name,
                                      std::span<const std::int64_t> shape) const
{
    const auto found = m_tensors.find(name);
    if (found == m_tensors.end())
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: tensor \"{}\" is missing", printable(m_directory.string()),
                                printable(name)));
    const TensorEntry &entry = *found->second.entry;
    const fs::path &file = *found->second.file;
    const auto problem = [&](std::string_view what) {
        return fail(
            ErrorCode::BadCheckpoint,
            std::format("{}: tensor \"{}\" {}", printable(file.string()), printable(name), what));
    };
    if (!plainType(entry.type))
        return problem(
            std::format("has dtype {}, expected BF16, F16 or F32", tensorTypeName(entry.type)));
    if (!sameUnlessSqueezed(entry.shape, shape))
        return problem(
            std::format("has shape {}, expected {}", shapeText(entry.shape), shapeText(shape)));
    return {};
}

Result<kernels::Matrix> TensorFolder::matrix(std::string_view name,
                                             std::initializer_list<std::int64_t> shape) const
{
    const std::span<const std::int64_t> expected(shape.begin(), shape.size());
    if (auto checked = checkPlain(name, expected); !checked)
        return std::unexpected(std::move(checked.error()));
    const TensorEntry &entry = *m_tensors.find(name)->second.entry;
    kernels::Matrix view { .data = aligned(entry),
                           .dtype
                           = plainType(entry.type).value_or(kernels::DType::F32), // checked above
                           .rows = expected.size() < 2 ? 1 : expected[0],
                           .cols = 1 };
    for (const std::int64_t size : expected.subspan(expected.size() < 2 ? 0 : 1))
        view.cols *= size;
    return view;
}

const void *TensorFolder::aligned(const TensorEntry &entry) const
{
    if (reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % tensorTypeBytes(entry.type) == 0)
        return entry.bytes.data();
    return m_realigned.emplace_back(entry.bytes.begin(), entry.bytes.end()).data();
}

const std::uint16_t *TensorFolder::converted(std::vector<std::uint16_t> values) const
{
    return m_converted.emplace_back(std::move(values)).data();
}

Result<kernels::Exl3Matrix> TensorFolder::exl3(std::string_view module, std::int64_t out,
                                               std::int64_t in) const
{
    const auto group = findExl3Group(*this, module, out, in);
    if (!group)
        return std::unexpected(group.error());
    const auto words = [&](const TensorEntry &entry) {
        return static_cast<const std::uint16_t *>(aligned(entry));
    };
    const auto scales = [&](const TensorEntry &entry) {
        return entry.type == TensorType::F16
            ? words(entry)
            : converted(scalesOfSigns({ words(entry), entry.bytes.size() / 2 }));
    };
    return kernels::Exl3Matrix {
        .trellis = words(*group->trellis.entry),
        .suh = scales(*group->suh.entry),
        .svh = scales(*group->svh.entry),
        .bias = group->bias.entry == nullptr             ? nullptr
            : group->bias.entry->type == TensorType::F16 ? words(*group->bias.entry)
                                                         : converted(halvesOf(*group->bias.entry)),
        .in = static_cast<std::int32_t>(in),
        .out = static_cast<std::int32_t>(out),
        .rate = static_cast<std::uint8_t>(group->rate),
        .codebook = group->codebook,
    };
}

std::optional<TensorFolder::Place> TensorFolder::locate(const void *data) const
{
    const auto *wanted = static_cast<const std::byte *>(data);
    for (std::size_t i = 0; i < m_files.size(); ++i) {
        const std::span<const std::byte> bytes = m_files[i].file().bytes();
        // std::less: pointers into different mappings.
        if (!std::less<>()(wanted, bytes.data())
            && std::less<>()(wanted, bytes.data() + bytes.size()))
            return Place { i, static_cast<std::uint64_t>(wanted - bytes.data()) };
    }
    return std::nullopt;
}

std::vector<fs::path> TensorFolder::files() const
{
    std::vector<fs::path> paths;
    paths.reserve(m_files.size());
    for (const SafeTensors &file : m_files)
        paths.push_back(file.path());
    return paths;
}

void TensorFolder::dropPages() const
{
    for (const SafeTensors &file : m_files) {
        file.file().dropPages();
        dropCachedPages(file.path());
    }
}

std::uint64_t TensorFolder::totalBytes() const
{
    std::uint64_t total = 0;
    for (const Tensor &tensor : m_tensors | std::views::values)
        total += tensor.entry->bytes.size();
    return total;
}

} // namespace firesteel::engine
