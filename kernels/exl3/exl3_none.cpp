// SPDX-License-Identifier: MIT
//
// A build without the CUDA toolkit: no stream has the CUDA backend, so nothing here can be reached.
#include "kernels/common/device.h"
#include "kernels/exl3/exl3_backends.h"

namespace firesteel::kernels::cuda {

namespace {

[[noreturn]] void fail() { throw DeviceError("This build has no CUDA kernels.", false); }

} // namespace

void exl3Reconstruct(std::span<std::uint16_t> /*inner*/, const Exl3Matrix & /*m*/,
                     CudaQueue & /*queue*/)
{
    fail();
}

void exl3Rotate(std::span<std::uint16_t> /*rotated*/, std::span<const float> /*x*/,
                const Exl3Matrix & /*m*/, std::int64_t /*rows*/, CudaQueue & /*queue*/)
{
    fail();
}

std::size_t exl3DecodeLinearScratchBytes(const Exl3Matrix & /*m*/, std::int64_t /*rows*/)
{
    return 0;
}

void exl3DecodeLinear(std::span<float> /*y*/, std::span<const float> /*x*/,
                      const Exl3Matrix & /*m*/, std::int64_t /*rows*/,
                      const Exl3Scratch & /*scratch*/, CudaQueue & /*queue*/)
{
    fail();
}

std::size_t exl3DecodeExpertsScratchBytes(const Exl3MoeShape & /*shape*/, std::int64_t /*rows*/)
{
    return 0;
}

void exl3DecodeExperts(std::span<float> /*y*/, std::span<const float> /*x*/,
                       std::span<const std::int32_t> /*experts*/,
                       std::span<const float> /*weights*/, std::span<const Exl3Expert> /*table*/,
                       const Exl3MoeShape & /*shape*/, std::int64_t /*rows*/,
                       const Exl3Scratch & /*scratch*/, CudaQueue & /*queue*/)
{
    fail();
}

std::size_t exl3PrefillLinearScratchBytes(const Exl3Matrix & /*m*/, std::int64_t /*rows*/)
{
    return 0;
}

void exl3PrefillLinear(std::span<float> /*y*/, std::span<const float> /*x*/,
                       const Exl3Matrix & /*m*/, std::int64_t /*rows*/,
                       const Exl3Scratch & /*scratch*/, CudaQueue & /*queue*/)
{
    fail();
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
    fail();
}

} // namespace firesteel::kernels::cuda
