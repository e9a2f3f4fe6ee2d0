// SPDX-License-Identifier: MIT
#include "engine/tools/bench_load_command.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/direct_reader.h"
#include "engine/checkpoint/tensor_folder.h"
#include "engine/tools/cli_request.h"
#include "engine/tools/cli_terminal.h"
#include "kernels/common/buffer.h"
#include "kernels/common/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <format>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>
#include <vector>

namespace firesteel::engine {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3; // of both, in turn; the best counts

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Seconds to read the files from end to end with O_DIRECT and throw the bytes away: `readers` at
// once, each taking every readers-th block. Negative where the disk refuses.
double readOnly(const std::vector<std::filesystem::path> &files, int readers)
{
    std::atomic<bool> isRefused = false;
    const Clock::time_point begin = Clock::now();
    {
        std::vector<std::jthread> threads;
        threads.reserve(static_cast<std::size_t>(readers));
        for (int reader = 0; reader < readers; ++reader) {
            threads.emplace_back([&, reader] {
                constexpr std::align_val_t kAlign { kDirectAlignment };
                auto *memory = new (kAlign) std::byte[kDirectBlockBytes];
                for (const std::filesystem::path &path : files) {
                    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
                    isRefused = isRefused || file < 0;
                    for (off_t at = reader * static_cast<off_t>(kDirectBlockBytes);
                         file >= 0 && ::pread(file, memory, kDirectBlockBytes, at) > 0;
                         at += readers * static_cast<off_t>(kDirectBlockBytes)) { }
                    if (file >= 0)
                        ::close(file);
                }
                ::operator delete[](memory, kAlign);
            });
        }
    }
    return isRefused ? -1 : secondsSince(begin);
}

} // namespace

int runBenchLoad(const CliOptions &options)
{
    const auto folder = TensorFolder::open(options.model);
    if (!folder)
        return reportError(folder.error());
    const kernels::DeviceSearch search = kernels::findDevice();
    const bool isOnDevice = search.device && options.processor != ProcessorChoice::Cpu;
    try {
        kernels::Stream stream
            = isOnDevice ? kernels::Stream(1, kernels::openCudaQueue()) : kernels::Stream(1);
        const auto target = kernels::Buffer<std::byte>::zeros(
            static_cast<std::size_t>(folder->totalBytes()), stream);
        std::vector<FilePiece> pieces;
        pieces.reserve(folder->tensors().size());
        std::byte *to = target.data();
        for (const auto &[name, tensor] : folder->tensors()) {
            const auto place = folder->locate(tensor.entry->bytes.data());
            if (!place)
                continue; // no bytes
            pieces.push_back({ place->file, place->offset, tensor.entry->bytes.size(), to });
            to += tensor.entry->bytes.size();
        }
        const std::vector<std::filesystem::path> files = folder->files();
        std::uint64_t fileBytes = 0;
        for (const std::filesystem::path &file : files)
            fileBytes += std::filesystem::file_size(file);

        double load = 0;
        double disk = 0;
        Json rounds = Json::array();
        for (int round = 0; round < kRounds; ++round) {
            const double one = readOnly(files, 1);
            const double many = readOnly(files, kDirectReaders);
            const Clock::time_point begin = Clock::now();
            const auto read = readPieces(files, pieces, stream, {}, {});
            if (!read)
                return reportError(read.error());
            const double seconds = secondsSince(begin);
            const auto rate = [](std::uint64_t bytes, double time) {
                return time > 0 ? static_cast<double>(bytes) / time / 1e9 : 0;
            };
            const double loaded = rate(*read, seconds);
            const double fastest = std::max(rate(fileBytes, one), rate(fileBytes, many));
            load = std::max(load, loaded);
            disk = std::max(disk, fastest);
            rounds.push_back({ { "load_gb_per_second", loaded },
                               { "disk_one_reader_gb_per_second", rate(fileBytes, one) },
                               { "disk_many_readers_gb_per_second", rate(fileBytes, many) } });
        }
        const Json result { { "model", printable(options.model.string()) },
                            { "to", isOnDevice ? search.device->name : "CPU memory" },
                            { "bytes", folder->totalBytes() },
                            { "load_gb_per_second", load },
                            { "disk_gb_per_second", disk },
                            { "share_of_the_disk", disk > 0 ? load / disk : 0 },
                            { "rounds", rounds } };
        return writeOutput(result.dump(1) + "\n") ? 0 : kExitFailure;
    } catch (const kernels::DeviceError &error) {
        return reportError({ ErrorCode::Internal, std::format("The GPU: {}", error.what()) });
    }
}

} // namespace firesteel::engine
