// SPDX-License-Identifier: MIT
#include "app/monitor/nvml.h"

#include <array>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace firesteel::app {

namespace {

// The parts of NVML's interface that are used here.
using Status = int;
using Device = struct DeviceHandle *;
constexpr Status kSuccess = 0;
constexpr Status kInsufficientSize = 7;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kNameCapacity = 96;
constexpr unsigned kVersionCapacity = 80;
constexpr unsigned kMostProcesses = 4096;
// A process whose memory the driver does not know.
constexpr std::uint64_t kNotAvailable = ~0ULL;

struct Memory
{
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct Utilization
{
    unsigned gpu; // percent
    unsigned memory;
};

struct ProcessInfo
{
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId;
    unsigned computeInstanceId;
};

QString textOf(const char *text, std::size_t capacity)
{
    return QString::fromUtf8(text, static_cast<qsizetype>(strnlen(text, capacity)));
}

} // namespace

struct Nvml::Library
{
    explicit Library(void *opened)
        : handle(opened)
    {
        find(init, "nvmlInit_v2");
        find(shutdown, "nvmlShutdown");
        find(errorString, "nvmlErrorString");
        find(driverVersion, "nvmlSystemGetDriverVersion");
        find(count, "nvmlDeviceGetCount_v2");
        find(deviceByIndex, "nvmlDeviceGetHandleByIndex_v2");
        find(name, "nvmlDeviceGetName");
        find(memory, "nvmlDeviceGetMemoryInfo");
        find(utilization, "nvmlDeviceGetUtilizationRates");
        find(power, "nvmlDeviceGetPowerUsage");
        find(temperature, "nvmlDeviceGetTemperature");
        find(clock, "nvmlDeviceGetClockInfo");
        find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
        // The newer name of the same function first.
        find(reasons, "nvmlDeviceGetCurrentClocksEventReasons");
        if (reasons == nullptr)
            find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }

    ~Library()
    {
        if (isInitialized && shutdown != nullptr)
            shutdown();
        dlclose(handle);
    }

    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    template <typename Function> void find(Function &function, const char *symbol) const
    {
        function = reinterpret_cast<Function>(dlsym(handle, symbol));
    }

    QString textOfError(Status status) const
    {
        const char *text = errorString != nullptr ? errorString(status) : nullptr;
        return text != nullptr ? QString::fromUtf8(text) : tr("error %1").arg(status);
    }

    void *handle;
    bool isInitialized = false;
    Device device = nullptr;
    Status (*init)() = nullptr;
    Status (*shutdown)() = nullptr;
    const char *(*errorString)(Status) = nullptr;
    Status (*driverVersion)(char *, unsigned) = nullptr;
    Status (*count)(unsigned *) = nullptr;
    Status (*deviceByIndex)(unsigned, Device *) = nullptr;
    Status (*name)(Device, char *, unsigned) = nullptr;
    Status (*memory)(Device, Memory *) = nullptr;
    Status (*utilization)(Device, Utilization *) = nullptr;
    Status (*power)(Device, unsigned *) = nullptr; // milliwatts
    Status (*temperature)(Device, unsigned, unsigned *) = nullptr;
    Status (*clock)(Device, unsigned, unsigned *) = nullptr; // MHz
    Status (*processes)(Device, unsigned *, ProcessInfo *) = nullptr;
    Status (*reasons)(Device, unsigned long long *) = nullptr;
};

std::expected<std::unique_ptr<Nvml>, QString> Nvml::open(const QString &library)
{
    void *handle = dlopen(library.toUtf8().constData(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        return std::unexpected(tr("No NVIDIA driver was found."));
    auto opened = std::make_unique<Library>(handle);
    if (opened->init == nullptr || opened->count == nullptr || opened->deviceByIndex == nullptr)
        return std::unexpected(tr("The NVIDIA driver is too old to be asked."));
    if (const Status status = opened->init(); status != kSuccess) {
        return std::unexpected(
            tr("The NVIDIA driver does not answer: %1.").arg(opened->textOfError(status)));
    }
    opened->isInitialized = true;
    unsigned count = 0;
    if (const Status status = opened->count(&count); status != kSuccess || count == 0)
        return std::unexpected(tr("The NVIDIA driver found no GPU."));
    if (const Status status = opened->deviceByIndex(0, &opened->device); status != kSuccess) {
        return std::unexpected(tr("The GPU cannot be asked: %1.").arg(opened->textOfError(status)));
    }
    std::unique_ptr<Nvml> nvml(new Nvml(std::move(opened)));
    nvml->m_facts.count = static_cast<int>(count);
    return nvml;
}

Nvml::Nvml(std::unique_ptr<Library> library)
    : m_library(std::move(library))
{
    std::array<char, kNameCapacity> name {};
    if (m_library->name != nullptr
        && m_library->name(m_library->device, name.data(), kNameCapacity) == kSuccess)
        m_facts.name = textOf(name.data(), name.size());
    std::array<char, kVersionCapacity> version {};
    if (m_library->driverVersion != nullptr
        && m_library->driverVersion(version.data(), kVersionCapacity) == kSuccess)
        m_facts.driverVersion = textOf(version.data(), version.size());
    Memory memory {};
    if (m_library->memory != nullptr && m_library->memory(m_library->device, &memory) == kSuccess
        && memory.total > 0)
        m_facts.memoryBytes = memory.total;
}

Nvml::~Nvml() = default;

GpuSample Nvml::read() const
{
    const Library &library = *m_library;
    GpuSample sample;
    Utilization utilization {};
    if (library.utilization != nullptr
        && library.utilization(library.device, &utilization) == kSuccess)
        sample.usePercent = utilization.gpu;
    unsigned value = 0;
    if (library.power != nullptr && library.power(library.device, &value) == kSuccess)
        sample.powerWatts = value / 1000.0;
    if (library.temperature != nullptr
        && library.temperature(library.device, kTemperatureGpu, &value) == kSuccess)
        sample.temperatureCelsius = value;
    if (library.clock != nullptr && library.clock(library.device, kClockSm, &value) == kSuccess)
        sample.clockMegahertz = value;
    unsigned long long reasons = 0;
    if (library.reasons != nullptr && library.reasons(library.device, &reasons) == kSuccess)
        sample.reasons = reasons;
    if (library.processes == nullptr)
        return sample;
    unsigned count = 0;
    Status status = library.processes(library.device, &count, nullptr);
    if (status == kSuccess && count == 0)
        sample.processBytes = 0; // nobody computes
    if (status != kInsufficientSize || count > kMostProcesses)
        return sample;
    count += 8; // some may start meanwhile
    std::vector<ProcessInfo> processes(count);
    status = library.processes(library.device, &count, processes.data());
    if (status != kSuccess)
        return sample;
    sample.processBytes = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, processes.size()); ++i) {
        if (std::cmp_equal(processes[i].pid, getpid())
            && processes[i].usedGpuMemory != kNotAvailable)
            sample.processBytes = *sample.processBytes + processes[i].usedGpuMemory;
    }
    return sample;
}

} // namespace firesteel::app
