// SPDX-License-Identifier: MIT
//
// What the NVIDIA driver says of the GPU. Its library is opened at run time and never linked, so
// that the program starts without it; a figure that it does not give is empty, never zero. Not
// thread-safe: used by one worker at a time, because the driver may take its time.
#pragma once

#include <QCoreApplication>
#include <QString>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

namespace firesteel::app {

struct GpuFacts
{
    QString name; // "NVIDIA GB10"
    QString driverVersion; // "580.95.05"
    int count = 0; // of GPUs; everything here is about the first
    // The GPU's own. Empty where it shares the machine's memory and the driver says "not
    // supported", as on GB10.
    std::optional<std::uint64_t> memoryBytes;
};

// Reasons why a clock is lower than it could be, as bits of GpuSample::reasons. The values are
// NVML's.
enum GpuReason : std::uint64_t {
    GpuIdle = 0x1,
    GpuClocksSetting = 0x2,
    GpuPowerCap = 0x4,
    GpuHardwareSlowdown = 0x8,
    GpuSyncBoost = 0x10,
    GpuThermalSlowdown = 0x20,
    GpuHardwareThermalSlowdown = 0x40,
    GpuPowerBrake = 0x80,
    GpuDisplayClockSetting = 0x100,
};

struct GpuSample
{
    std::optional<double> usePercent; // of the time in which a kernel ran
    std::optional<double> powerWatts;
    std::optional<double> temperatureCelsius;
    std::optional<double> clockMegahertz; // of the SMs
    std::optional<std::uint64_t> reasons; // GpuReason bits
    std::optional<std::uint64_t> processBytes; // GPU memory of this process
};

class Nvml
{
    Q_DECLARE_TR_FUNCTIONS(Nvml)

public:
    static constexpr auto kLibrary = "libnvidia-ml.so.1";

    // The error is a sentence for a person: no driver, a driver that does not answer, no GPU.
    static std::expected<std::unique_ptr<Nvml>, QString> open(const QString &library
                                                              = QString::fromLatin1(kLibrary));
    ~Nvml();
    Nvml(const Nvml &) = delete;
    Nvml &operator=(const Nvml &) = delete;

    const GpuFacts &facts() const { return m_facts; }
    GpuSample read() const;

private:
    struct Library;

    explicit Nvml(std::unique_ptr<Library> library);

    std::unique_ptr<Library> m_library;
    GpuFacts m_facts;
};

} // namespace firesteel::app
