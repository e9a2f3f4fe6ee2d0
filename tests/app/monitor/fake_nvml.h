// SPDX-License-Identifier: MIT
//
// The script of the fake driver library: what each question is answered with. The test finds it
// through the symbol fakeNvml of the library it opened.
#pragma once

#include <string>

namespace firesteel::test {

struct FakeNvml
{
    int init = 0; // status codes of NVML: 0 success, 3 not supported, 9 driver not loaded ...
    unsigned count = 1;
    int device = 0;
    std::string name = "NVIDIA GB10";
    std::string version = "580.95.05";
    int memory = 3; // as on GB10
    unsigned long long memoryTotal = 0;
    int utilization = 0;
    unsigned use = 96;
    int power = 0;
    unsigned milliwatts = 61'250;
    int temperature = 0;
    unsigned celsius = 79;
    int clock = 0;
    unsigned megahertz = 2230;
    int reasons = 0;
    unsigned long long reasonBits = 0;
    int processes = 0;
    unsigned processCount = 1; // others than this process
    unsigned long long ownBytes = 1ULL << 30; // of this process; 0: it is not listed
    int initialized = 0; // init without shutdown
};

} // namespace firesteel::test
