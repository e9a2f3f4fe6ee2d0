// SPDX-License-Identifier: MIT
//
// A part of the GPU's multiprocessors (a "green context" of the driver) with a stream of its own. A
// limit on the size of persistent grids alone would not do: two blocks of one multiprocessor's size
// are put on two multiprocessors while there are free ones.
#pragma once

#include <cuda_runtime.h>

namespace firesteel::kernels {

struct DevicePartition
{
    void *context = nullptr;
    cudaStream_t stream = nullptr;
    int multiprocessors = 0;
};

// At least `multiprocessors` of them. Throws DeviceError.
DevicePartition openDevicePartition(int multiprocessors);
void closeDevicePartition(void *context); // after its stream; null is no error

} // namespace firesteel::kernels
