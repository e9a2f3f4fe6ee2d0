// SPDX-License-Identifier: MIT
//
// A libnvidia-ml.so that answers from a script. FIRESTEEL_FAKE_NVML_OLD builds one that lacks what
// came late, as old drivers do; FIRESTEEL_FAKE_NVML_EMPTY one without anything.
#include "tests/app/monitor/fake_nvml.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

// The names and types are NVML's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

firesteel::test::FakeNvml *fakeNvml()
{
    static firesteel::test::FakeNvml script;
    return &script;
}

#ifndef FIRESTEEL_FAKE_NVML_EMPTY

struct FakeUtilization
{
    unsigned gpu;
    unsigned memory;
};

struct FakeMemory
{
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct FakeProcess
{
    unsigned pid;
    unsigned long long bytes;
    unsigned gpuInstance;
    unsigned computeInstance;
};

int nvmlInit_v2()
{
    if (fakeNvml()->init == 0)
        ++fakeNvml()->initialized;
    return fakeNvml()->init;
}

int nvmlShutdown()
{
    --fakeNvml()->initialized;
    return 0;
}

const char *nvmlErrorString(int status)
{
    return status == 9 ? "Driver Not Loaded" : status == 15 ? "GPU is lost" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned capacity)
{
    std::strncpy(text, fakeNvml()->version.c_str(), capacity);
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = fakeNvml()->count;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned /*index*/, void **device)
{
    *device = fakeNvml();
    return fakeNvml()->device;
}

int nvmlDeviceGetName(void * /*device*/, char *text, unsigned capacity)
{
    std::strncpy(text, fakeNvml()->name.c_str(), capacity);
    return 0;
}

int nvmlDeviceGetMemoryInfo(void * /*device*/, FakeMemory *memory)
{
    // What is written beside an error means nothing.
    *memory = { fakeNvml()->memory == 0 ? fakeNvml()->memoryTotal : 1234, 0, 0 };
    return fakeNvml()->memory;
}

int nvmlDeviceGetUtilizationRates(void * /*device*/, FakeUtilization *use)
{
    *use = { fakeNvml()->use, 1 };
    return fakeNvml()->utilization;
}

int nvmlDeviceGetPowerUsage(void * /*device*/, unsigned *milliwatts)
{
    *milliwatts = fakeNvml()->milliwatts;
    return fakeNvml()->power;
}

int nvmlDeviceGetTemperature(void * /*device*/, unsigned sensor, unsigned *celsius)
{
    *celsius = fakeNvml()->celsius;
    return sensor == 0 ? fakeNvml()->temperature : 2;
}

#ifndef FIRESTEEL_FAKE_NVML_OLD

int nvmlDeviceGetClockInfo(void * /*device*/, unsigned kind, unsigned *megahertz)
{
    *megahertz = kind == 1 ? fakeNvml()->megahertz : 0;
    return fakeNvml()->clock;
}

int nvmlDeviceGetCurrentClocksEventReasons(void * /*device*/, unsigned long long *bits)
{
    *bits = fakeNvml()->reasonBits;
    return fakeNvml()->reasons;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void * /*device*/, unsigned *count,
                                            FakeProcess *processes)
{
    const firesteel::test::FakeNvml &script = *fakeNvml();
    if (script.processes != 0)
        return script.processes;
    const unsigned wanted = script.processCount + (script.ownBytes > 0 ? 1 : 0);
    const bool isEnough = *count >= wanted;
    const unsigned capacity = std::exchange(*count, wanted);
    if (!isEnough || processes == nullptr)
        return wanted == 0 ? 0 : 7; // insufficient size
    std::fill_n(processes, std::min(capacity, script.processCount),
                FakeProcess { 1, 5ULL << 30, 0, 0 });
    if (script.ownBytes > 0)
        processes[script.processCount] = { static_cast<unsigned>(getpid()), script.ownBytes, 0, 0 };
    return 0;
}

#else

// Its older name.
int nvmlDeviceGetCurrentClocksThrottleReasons(void * /*device*/, unsigned long long *bits)
{
    *bits = fakeNvml()->reasonBits;
    return fakeNvml()->reasons;
}

#endif
#endif
}
// NOLINTEND(readability-identifier-naming)
