// SPDX-License-Identifier: MIT
//
// A build without the CUDA toolkit: no stream has the backend that would call these.
#include "kernels/common/device.h"
#include "kernels/exl3/exl3_viterbi_backends.h"

namespace firesteel::kernels::cuda {

namespace {

[[noreturn]] void fail() { throw DeviceError("This build has no CUDA kernels.", false); }

} // namespace

std::size_t exl3ViterbiScratchBytes(std::int64_t /*tiles*/, int /*rate*/, CudaQueue & /*queue*/)
{
    fail();
}
void exl3Viterbi(std::span<std::uint16_t> /*states*/, std::span<const float> /*tiles*/,
                 int /*rate*/, Exl3Codebook /*codebook*/, const Exl3Scratch & /*scratch*/,
                 CudaQueue & /*queue*/)
{
    fail();
}

} // namespace firesteel::kernels::cuda
