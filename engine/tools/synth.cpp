// SPDX-License-Identifier: MIT
#include "engine/tools/synth.h"

#include "engine/base/printable.h"
#include "engine/base/system_memory.h"
#include "engine/checkpoint/config_writer.h"
#include "engine/checkpoint/exl3_pack.h"
#include "engine/checkpoint/safe_tensors_writer.h"
#include "engine/tools/synth_tokenizer.h"
#include "engine/tools/synth_values.h"
#include "kernels/common/thread_pool.h"

#include <algorithm>
#include <format>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

namespace firesteel::engine {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::uint64_t kShardBytes = 7'100'000'000; // the pack's 85.1 GB in 12 files
constexpr std::size_t kBufferBytes = 8U << 20U;
constexpr std::uint64_t kOtherBytes = 64U << 20U; // headers, index, tokenizer: rounded up

struct Shard
{
    std::string name;
    std::vector<TensorHeader> tensors;
    std::uint64_t bytes = 0;
};

// Consecutive tensors in files of about equal size, inside each as the reference writer lays them
// out: the widest types first, then by name.
std::vector<Shard> planShards(const ModelShape &shape)
{
    const std::vector<PackTensor> table = exl3PackTensors(shape);
    std::uint64_t total = 0;
    for (const PackTensor &tensor : table)
        total += tensor.bytes();
    std::vector<Shard> shards(static_cast<std::size_t>((total + kShardBytes - 1) / kShardBytes));
    std::uint64_t done = 0;
    for (const PackTensor &tensor : table) {
        const std::uint64_t each = (total + shards.size() - 1) / shards.size();
        Shard &shard = shards[static_cast<std::size_t>(done / each)];
        shard.tensors.push_back({ tensor.name, tensor.type, tensor.shape });
        shard.bytes += tensor.bytes();
        done += tensor.bytes();
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].name = std::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        std::ranges::sort(shards[i].tensors, [](const TensorHeader &a, const TensorHeader &b) {
            return a.type != b.type ? a.type > b.type : a.name < b.name;
        });
    }
    return shards;
}

// Removes what was written unless it is kept.
class NewFolder
{
public:
    explicit NewFolder(fs::path path)
        : m_path(std::move(path))
    {
    }
    NewFolder(const NewFolder &) = delete;
    NewFolder &operator=(const NewFolder &) = delete;
    ~NewFolder()
    {
        if (m_isKept)
            return;
        std::error_code ignored;
        for (const fs::path &file : m_files)
            fs::remove(file, ignored);
        if (m_isOurs)
            fs::remove(m_path, ignored); // only if empty
    }

    Result<void> create()
    {
        std::error_code error;
        const fs::file_status status = fs::status(m_path, error);
        if (fs::exists(status)) {
            if (!fs::is_directory(status) || !fs::is_empty(m_path, error) || error)
                return fail(ErrorCode::BadRequest,
                            std::format("{}: is there already and not an empty folder",
                                        printable(m_path.string())));
            return {};
        }
        m_isOurs = fs::create_directories(m_path, error);
        if (error)
            return fail(ErrorCode::Io,
                        std::format("{}: cannot be created: {}", printable(m_path.string()),
                                    error.message()));
        return {};
    }

    // The path of a file that is about to be written, under its own name or as NAME.part.
    fs::path file(const std::string &name)
    {
        const fs::path path = m_path / name;
        m_files.push_back(path);
        m_files.push_back(fs::path(path) += ".part");
        return path;
    }

    Result<void> write(const std::string &name, const std::string &text)
    {
        const fs::path path = file(name);
        std::ofstream stream(path, std::ios::binary | std::ios::trunc);
        stream << text;
        stream.close();
        if (!stream)
            return fail(ErrorCode::Io,
                        std::format("{}: cannot be written", printable(path.string())));
        return {};
    }

    void keep() { m_isKept = true; }

private:
    fs::path m_path;
    std::vector<fs::path> m_files;
    bool m_isOurs = false;
    bool m_isKept = false;
};

Result<void> checkSpace(const fs::path &folder, std::uint64_t bytes)
{
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (error)
        return fail(ErrorCode::Io,
                    std::format("{}: cannot tell the free space: {}", printable(folder.string()),
                                error.message()));
    if (space.available < bytes)
        return fail(ErrorCode::Io,
                    std::format("{}: {} are needed, {} are free on that disk",
                                printable(folder.string()), formatBytes(bytes),
                                formatBytes(space.available)));
    return {};
}

class ShardWriter
{
public:
    ShardWriter(const SynthOptions &options, const SynthProgress &progress, std::uint64_t total)
        : m_options(options)
        , m_progress(progress)
        , m_total(total)
        , m_pool(options.threads)
        , m_buffer(kBufferBytes)
    {
    }

    Result<void> write(const fs::path &path, const Shard &shard)
    {
        auto file = SafeTensorsWriter::create(path, shard.tensors);
        if (!file)
            return std::unexpected(file.error());
        for (const TensorHeader &tensor : shard.tensors) {
            // Without its marker a group would be of another codebook.
            const bool isSkipped = m_options.headersOnly && !tensor.name.ends_with(".mul1");
            auto done = isSkipped ? file->skip(tensor.bytes()) : writeTensor(*file, tensor);
            if (!done)
                return done;
        }
        if (auto told = tell(); !told)
            return told;
        return file->finish();
    }

private:
    Result<void> tell() const
    {
        if (m_progress && !m_progress(m_done, m_total))
            return fail(ErrorCode::Cancelled, "Cancelled; what was written has been removed.");
        return {};
    }

    Result<void> writeTensor(SafeTensorsWriter &file, const TensorHeader &tensor)
    {
        const SyntheticTensor values(tensor.name, tensor.type, tensor.shape, m_options.seed);
        const std::size_t size = tensorTypeBytes(tensor.type);
        const std::uint64_t count = tensor.bytes() / size;
        for (std::uint64_t first = 0; first < count;) {
            const auto part = static_cast<std::size_t>(
                std::min<std::uint64_t>(kBufferBytes / size, count - first));
            const std::span<std::byte> bytes = std::span(m_buffer).first(part * size);
            m_pool.parallelFor(static_cast<std::int64_t>(part), 1 << 16,
                               [&](std::int64_t begin, std::int64_t end) {
                                   const auto from = static_cast<std::size_t>(begin);
                                   const auto length = static_cast<std::size_t>(end - begin);
                                   values.fill(bytes.subspan(from * size, length * size),
                                               first + from);
                               });
            if (auto written = file.write(bytes); !written)
                return written;
            first += part;
            m_done += bytes.size();
            if (m_done - m_told >= kBufferBytes) {
                m_told = m_done;
                if (auto told = tell(); !told)
                    return told;
            }
        }
        return {};
    }

    const SynthOptions &m_options;
    const SynthProgress &m_progress;
    std::uint64_t m_total;
    std::uint64_t m_done = 0;
    std::uint64_t m_told = 0;
    kernels::ThreadPool m_pool;
    std::vector<std::byte> m_buffer;
};

std::string indexJson(const std::vector<Shard> &shards, std::uint64_t total)
{
    // Fields of an ordered object are found by searching; these are known to be new.
    ordered_json map = ordered_json::object();
    auto &fields = map.get_ref<ordered_json::object_t &>();
    for (const Shard &shard : shards)
        for (const TensorHeader &tensor : shard.tensors)
            fields.push_back({ tensor.name, shard.name });
    ordered_json index = { { "metadata", { { "total_size", total } } } };
    index["weight_map"] = std::move(map);
    return index.dump(1);
}

} // namespace

Result<SynthSummary> writeSyntheticPack(const SynthOptions &options, const SynthProgress &progress)
{
    const std::vector<Shard> shards = planShards(options.shape);
    SynthSummary summary { .files = static_cast<int>(shards.size()) };
    for (const Shard &shard : shards) {
        summary.tensors += shard.tensors.size();
        summary.bytes += shard.bytes;
    }
    NewFolder folder(options.out);
    if (auto created = folder.create(); !created)
        return std::unexpected(created.error());
    if (auto checked
        = checkSpace(options.out, kOtherBytes + (options.headersOnly ? 0 : summary.bytes));
        !checked)
        return std::unexpected(checked.error());

    const int base = options.shape.eosTokenIds.front(); // the first added token
    const ordered_json generation = { { "eos_token_id", options.shape.eosTokenIds },
                                      { "temperature", 1.0 },
                                      { "top_p", 0.95 } };
    const std::pair<const char *, std::string> texts[]
        = { { "config.json",
              modelConfigJson(options.shape, PackFacts { .bits = 2.05, .headBits = 5 }) },
            { "generation_config.json", generation.dump(2) },
            { "tokenizer.json", tokenizerJson(byteMerges(base)) },
            { "model.safetensors.index.json", indexJson(shards, summary.bytes) } };
    for (const auto &[name, text] : texts)
        if (auto written = folder.write(name, text); !written)
            return std::unexpected(written.error());

    ShardWriter writer(options, progress, summary.bytes);
    for (const Shard &shard : shards)
        if (auto written = writer.write(folder.file(shard.name), shard); !written)
            return std::unexpected(written.error());
    folder.keep();
    return summary;
}

} // namespace firesteel::engine
