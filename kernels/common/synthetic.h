// SPDX-License-Identifier: MIT
//
// Numbers made on the device in place of a checkpoint's: what a kernel's speed depends on is shapes
// and types, and the largest model takes seconds this way.
#pragma once

#include "kernels/common/device.h"
#include "kernels/common/tensor.h"

#include <cstddef>
#include <cstdint>

namespace firesteel::kernels {

// Every bit at random: trellises.
void fillRandomBits(void *device, std::size_t bytes, std::uint64_t seed, CudaQueue &queue);
// Values of this type, uniform in +-scale.
void fillRandomValues(void *device, std::size_t count, DType dtype, float scale, std::uint64_t seed,
                      CudaQueue &queue);

} // namespace firesteel::kernels
