// SPDX-License-Identifier: MIT
//
// Device code of kernel_bench: random bytes to work on, and the bandwidth that reading alone
// reaches.
#pragma once

#include "kernels/common/device.h"

#include <cstdint>

namespace firesteel::bench {

// Fills with pseudo-random bits. The speed of kernels does not depend on trellis bits, but that of
// memory may on zeros.
void fillRandom(kernels::DeviceMemory &memory, std::uint64_t seed, kernels::CudaQueue &queue);

// Median GB/s of reading `memory` once with 16-byte loads, by two blocks on each of the queue's
// multiprocessors and at least 16 KB in flight on each.
double readBandwidth(const kernels::DeviceMemory &memory, kernels::CudaQueue &queue);

// Median TFLOP/s of mma.sync.m16n8k16 with F16 operands and float32 sums, all in registers, by one
// block of 16 warps on each of the queue's multiprocessors: what these tensor cores give to kernels
// that run on compute 9.0 and 12.1 alike.
double multiplyRate(kernels::CudaQueue &queue);

} // namespace firesteel::bench
