// SPDX-License-Identifier: MIT
#include "engine/checkpoint/safe_tensors.h"

#include "engine/base/json_problem.h"
#include "engine/base/printable.h"

#include <algorithm>
#include <array>
#include <format>
#include <limits>
#include <optional>
#include <simdjson.h>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000; // the format's own limit

struct TypeFacts
{
    TensorType type;
    std::string_view name;
    std::size_t bytes;
};

// In the order of TensorType.
constexpr std::array kTypes {
    TypeFacts { TensorType::Bool, "BOOL", 1 },      TypeFacts { TensorType::U8, "U8", 1 },
    TypeFacts { TensorType::I8, "I8", 1 },          TypeFacts { TensorType::I16, "I16", 2 },
    TypeFacts { TensorType::U16, "U16", 2 },        TypeFacts { TensorType::F16, "F16", 2 },
    TypeFacts { TensorType::BF16, "BF16", 2 },      TypeFacts { TensorType::I32, "I32", 4 },
    TypeFacts { TensorType::U32, "U32", 4 },        TypeFacts { TensorType::F32, "F32", 4 },
    TypeFacts { TensorType::I64, "I64", 8 },        TypeFacts { TensorType::U64, "U64", 8 },
    TypeFacts { TensorType::F64, "F64", 8 },        TypeFacts { TensorType::F8E4M3, "F8_E4M3", 1 },
    TypeFacts { TensorType::F8E5M2, "F8_E5M2", 1 },
};

// Reads one value of the directory; every failure is a sentence about that tensor.
class EntryReader
{
public:
    EntryReader(std::span<const std::byte> data, std::string_view tensor)
        : m_data(data)
        , m_tensor(tensor)
    {
    }

    Result<TensorEntry> read(simdjson::dom::element value)
    {
        simdjson::dom::object fields;
        if (value.get(fields) != simdjson::SUCCESS)
            return problem("is not described by a JSON object");
        std::optional<simdjson::dom::element> type;
        std::optional<simdjson::dom::element> shape;
        std::optional<simdjson::dom::element> offsets;
        for (const simdjson::dom::key_value_pair field : fields) {
            auto *slot = field.key == "dtype" ? &type
                : field.key == "shape"        ? &shape
                : field.key == "data_offsets" ? &offsets
                                              : nullptr;
            if (slot == nullptr)
                continue; // the format's reader ignores further fields too
            if (slot->has_value())
                return problem(std::format("has \"{}\" twice", field.key));
            *slot = field.value;
        }
        if (!type || !shape || !offsets)
            return problem(std::format("lacks \"{}\"",
                                       !type        ? "dtype"
                                           : !shape ? "shape"
                                                    : "data_offsets"));
        TensorEntry entry;
        if (auto result = readType(*type, entry); !result)
            return std::unexpected(result.error());
        std::uint64_t expected = tensorTypeBytes(entry.type);
        if (auto result = readShape(*shape, entry, expected); !result)
            return std::unexpected(result.error());
        if (auto result = readOffsets(*offsets, entry, expected); !result)
            return std::unexpected(result.error());
        return entry;
    }

private:
    std::unexpected<Error> problem(std::string_view what) const
    {
        return fail(ErrorCode::BadCheckpoint,
                    std::format("tensor \"{}\" {}", printable(m_tensor), what));
    }

    Result<void> readType(simdjson::dom::element value, TensorEntry &entry) const
    {
        std::string_view name;
        if (value.get(name) != simdjson::SUCCESS)
            return problem("has a \"dtype\" that is not a string");
        const auto *facts = std::ranges::find(kTypes, name, &TypeFacts::name);
        if (facts == kTypes.end())
            return problem(std::format("has the unknown dtype \"{}\"", printable(name, 40)));
        entry.type = facts->type;
        return {};
    }

    // Multiplies `bytes` by the number of elements.
    Result<void> readShape(simdjson::dom::element value, TensorEntry &entry,
                           std::uint64_t &bytes) const
    {
        simdjson::dom::array dimensions;
        if (value.get(dimensions) != simdjson::SUCCESS)
            return problem("has a \"shape\" that is not an array");
        for (const simdjson::dom::element dimension : dimensions) {
            std::int64_t size = 0;
            if (dimension.get(size) != simdjson::SUCCESS || size < 0)
                return problem(std::format("has a \"shape\" with {}, not a size",
                                           printable(simdjson::minify(dimension), 40)));
            if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
                return problem("has a \"shape\" whose size in bytes overflows 64 bits");
            entry.shape.push_back(size);
        }
        return {};
    }

    Result<void> readOffsets(simdjson::dom::element value, TensorEntry &entry,
                             std::uint64_t expected) const
    {
        simdjson::dom::array pair;
        if (value.get(pair) != simdjson::SUCCESS || pair.size() != 2)
            return problem("has \"data_offsets\" that are not two numbers");
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        if (pair.at(0).get(begin) != simdjson::SUCCESS || pair.at(1).get(end) != simdjson::SUCCESS)
            return problem("has \"data_offsets\" that are not two numbers");
        if (begin > end || end > m_data.size())
            return problem(
                std::format("lies at bytes {}..{} of {} bytes of data", begin, end, m_data.size()));
        if (end - begin != expected)
            return problem(std::format("has {} bytes of data where its shape and dtype {} need {}",
                                       end - begin, tensorTypeName(entry.type), expected));
        entry.bytes = m_data.subspan(static_cast<std::size_t>(begin),
                                     static_cast<std::size_t>(end - begin));
        return {};
    }

    std::span<const std::byte> m_data;
    std::string_view m_tensor;
};

using Directory = std::map<std::string, TensorEntry, std::less<>>;

// The format wants the data section covered exactly: no byte twice, none unused (a file can then
// not hide anything).
Result<void> checkCoverage(const Directory &directory, std::span<const std::byte> data)
{
    struct Extent
    {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::string_view name;
    };
    std::vector<Extent> extents;
    extents.reserve(directory.size());
    for (const auto &[name, entry] : directory) {
        const auto begin = static_cast<std::size_t>(entry.bytes.data() - data.data());
        extents.push_back({ begin, begin + entry.bytes.size(), name });
    }
    std::ranges::sort(extents, [](const Extent &a, const Extent &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    const Extent *previous = nullptr;
    for (const Extent &extent : extents) {
        const std::size_t expected = previous == nullptr ? 0 : previous->end;
        if (extent.begin < expected)
            return fail(ErrorCode::BadCheckpoint,
                        std::format(R"(tensor "{}" overlaps tensor "{}")", printable(extent.name),
                                    printable(previous->name)));
        if (extent.begin > expected)
            return fail(ErrorCode::BadCheckpoint,
                        std::format("bytes {}..{} before tensor \"{}\" belong to no tensor",
                                    expected, extent.begin, printable(extent.name)));
        previous = &extent;
    }
    const std::size_t end = previous == nullptr ? 0 : previous->end;
    if (end != data.size())
        return fail(ErrorCode::BadCheckpoint,
                    std::format("the last {} bytes belong to no tensor", data.size() - end));
    return {};
}

Result<void> checkMetadata(simdjson::dom::element value)
{
    simdjson::dom::object fields;
    bool isMap = value.is_null() || value.get(fields) == simdjson::SUCCESS;
    if (isMap && !value.is_null())
        isMap = std::ranges::all_of(fields, [](auto field) { return field.value.is_string(); });
    if (!isMap)
        return fail(ErrorCode::BadCheckpoint, "\"__metadata__\" does not map strings to strings");
    return {};
}

Result<Directory> readDirectory(simdjson::dom::object object, std::span<const std::byte> data)
{
    Directory directory;
    bool hasMetadata = false;
    for (const simdjson::dom::key_value_pair field : object) {
        if (field.key == "__metadata__") {
            if (std::exchange(hasMetadata, true))
                return fail(ErrorCode::BadCheckpoint, "\"__metadata__\" is there twice");
            if (auto result = checkMetadata(field.value); !result)
                return std::unexpected(result.error());
            continue;
        }
        auto entry = EntryReader(data, field.key).read(field.value);
        if (!entry)
            return std::unexpected(std::move(entry.error()));
        if (!directory.emplace(field.key, std::move(*entry)).second)
            return fail(ErrorCode::BadCheckpoint,
                        std::format("tensor \"{}\" is listed twice", printable(field.key)));
    }
    if (auto result = checkCoverage(directory, data); !result)
        return std::unexpected(result.error());
    return directory;
}

Result<Directory> parseImage(std::span<const std::byte> file)
{
    constexpr std::size_t kLengthBytes = 8;
    if (file.size() < kLengthBytes)
        return fail(ErrorCode::BadCheckpoint,
                    std::format("has {} bytes; a safetensors file starts with 8 bytes of header "
                                "length",
                                file.size()));
    std::uint64_t headerBytes = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;)
        headerBytes = headerBytes << 8U | std::to_integer<std::uint64_t>(file[i]);
    const std::span<const std::byte> rest = file.subspan(kLengthBytes);
    if (headerBytes > kMaxHeaderBytes)
        return fail(ErrorCode::BadCheckpoint,
                    std::format("declares a header of {} bytes; safetensors allows {}", headerBytes,
                                kMaxHeaderBytes));
    if (headerBytes > rest.size())
        return fail(ErrorCode::BadCheckpoint,
                    std::format("declares a header of {} bytes, {} follow (truncated?)",
                                headerBytes, rest.size()));
    const auto header = rest.first(static_cast<std::size_t>(headerBytes));
    // simdjson would skip a byte order mark, the format does not have one.
    if (!header.empty() && header.front() == std::byte { 0xEF })
        return fail(ErrorCode::BadCheckpoint, "the header starts with a byte order mark");

    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const auto error
        = parser.parse(reinterpret_cast<const std::uint8_t *>(header.data()), header.size(), true)
              .get(root);
    if (error != simdjson::SUCCESS)
        return fail(ErrorCode::BadCheckpoint, std::format("the header is {}", jsonProblem(error)));
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS)
        return fail(ErrorCode::BadCheckpoint, "the header is not a JSON object");
    return readDirectory(object, rest.subspan(header.size()));
}

} // namespace

std::string_view tensorTypeName(TensorType type)
{
    return kTypes.at(static_cast<std::size_t>(type)).name;
}

std::size_t tensorTypeBytes(TensorType type)
{
    return kTypes.at(static_cast<std::size_t>(type)).bytes;
}

Result<Directory> SafeTensors::parse(std::span<const std::byte> file, std::string_view name)
{
    Result<Directory> directory = parseImage(file);
    if (!directory)
        return fail(directory.error().code,
                    std::format("{}: {}", printable(name), directory.error().message));
    return directory;
}

Result<SafeTensors> SafeTensors::open(const std::filesystem::path &path)
{
    auto file = MappedFile::open(path);
    if (!file)
        return std::unexpected(std::move(file.error()));
    auto entries = parse(file->bytes(), path.string());
    if (!entries)
        return std::unexpected(std::move(entries.error()));
    return SafeTensors(std::move(*file), std::move(*entries));
}

SafeTensors::SafeTensors(MappedFile file, Directory entries)
    : m_file(std::move(file))
    , m_entries(std::move(entries))
{
}

} // namespace firesteel::engine
