// SPDX-License-Identifier: MIT
//
// CUDA launchers that are not there yet; each goes with the arrival of its kernel.
#include "kernels/exl3/exl3_backends.h"

#include <stdexcept>

namespace firesteel::kernels::cuda {

std::size_t exl3PrefillLinearScratchBytes(const Exl3Matrix & /*m*/, std::int64_t /*rows*/)
{
    return 0;
}

void exl3PrefillLinear(std::span<float> /*y*/, std::span<const float> /*x*/,
                       const Exl3Matrix & /*m*/, std::int64_t /*rows*/,
                       const Exl3Scratch & /*scratch*/, CudaQueue & /*queue*/)
{
    throw std::logic_error("cuda::exl3PrefillLinear is not there yet");
}

std::size_t exl3PrefillExpertsScratchBytes(const Exl3MoeShape & /*shape*/, std::int64_t /*rows*/)
{
    return 0;
}

void exl3PrefillExperts(std::span<float> /*y*/, std::span<const float> /*x*/,
                        std::span<const std::int32_t> /*experts*/,
                        std::span<const float> /*weights*/, std::span<const Exl3Expert> /*table*/,
                        const Exl3MoeShape & /*shape*/, std::int64_t /*rows*/,
                        const Exl3Scratch & /*scratch*/, CudaQueue & /*queue*/)
{
    throw std::logic_error("cuda::exl3PrefillExperts is not there yet");
}

} // namespace firesteel::kernels::cuda
