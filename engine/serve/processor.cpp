// SPDX-License-Identifier: MIT
#include "engine/serve/processor.h"

#include "engine/base/system_memory.h"
#include "engine/model/model.h"
#include "kernels/common/device.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace firesteel::engine {

namespace {

bool hasNvidiaDriver()
{
    std::error_code ignored;
    return std::filesystem::exists("/dev/nvidia0", ignored)
        || std::filesystem::exists("/proc/driver/nvidia", ignored);
}

// Memory of the device that can be had; 0 when it does not answer.
std::uint64_t freeDeviceBytes()
{
    try {
        return kernels::deviceRoom().freeBytes;
    } catch (const kernels::DeviceError &) {
        return 0;
    }
}

} // namespace

Result<Processor> chooseProcessor(ProcessorChoice choice, const ModelShape &shape)
{
    const std::optional<std::uint64_t> available = availableMemoryBytes();
    if (!available)
        return fail(ErrorCode::Io, "/proc/meminfo does not tell how much memory is available.");
    Processor cpu { .isDevice = false, .name = {}, .note = {}, .availableBytes = *available };
    if (choice == ProcessorChoice::Cpu)
        return cpu;
    const kernels::DeviceSearch search = kernels::findDevice();
    const std::string why = search.device ? whyNotOnDevice(shape) : search.reason;
    if (why.empty()) {
        Processor device { .isDevice = true,
                           .name = search.device->name,
                           .note = {},
                           .availableBytes = freeDeviceBytes() };
        if (search.device->integrated)
            device.availableBytes = std::min(device.availableBytes, *available);
        return device;
    }
    if (choice == ProcessorChoice::Gpu)
        return fail(ErrorCode::BadRequest, "The GPU was asked for. " + why);
    Processor result = cpu;
    // Where there is no NVIDIA GPU at all the CPU is what anyone expects.
    if (search.device || hasNvidiaDriver())
        result.note = why;
    return result;
}

} // namespace firesteel::engine
