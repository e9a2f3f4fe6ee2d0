// SPDX-License-Identifier: MIT
//
// A build without the CUDA toolkit: no device is ever found, so nothing else here can be reached.
#include "kernels/common/device.h"
#include "kernels/common/stream.h"
#include "kernels/common/synthetic.h"

#include <utility>

namespace firesteel::kernels {

namespace {

constexpr const char *kNoKernels = "This build has no CUDA kernels: the model runs on the CPU.";

[[noreturn]] void fail() { throw DeviceError(kNoKernels, false); }

} // namespace

DeviceSearch findDevice() { return { .device = {}, .reason = kNoKernels }; }
std::shared_ptr<CudaQueue> openCudaQueue(int /*multiprocessorLimit*/) { fail(); }
void synchronize(CudaQueue & /*queue*/) { fail(); }
DeviceMemory::DeviceMemory(std::size_t /*bytes*/) { fail(); }
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept = default;
DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept = default;
PinnedMemory::PinnedMemory(std::size_t /*bytes*/) { fail(); }
PinnedMemory::~PinnedMemory() = default;
PinnedMemory::PinnedMemory(PinnedMemory &&other) noexcept = default;
PinnedMemory &PinnedMemory::operator=(PinnedMemory &&other) noexcept = default;
DeviceRoom deviceRoom() { fail(); }
void enqueueToDevice(void * /*device*/, std::span<const std::byte> /*pinned*/,
                     CudaQueue & /*queue*/)
{
    fail();
}
void copyToDevice(void * /*device*/, const void * /*host*/, std::size_t /*bytes*/,
                  CudaQueue & /*queue*/)
{
    fail();
}
void copyToHost(void * /*host*/, const void * /*device*/, std::size_t /*bytes*/,
                CudaQueue & /*queue*/)
{
    fail();
}
void copyOnDevice(void * /*to*/, const void * /*from*/, std::size_t /*bytes*/,
                  CudaQueue & /*queue*/)
{
    fail();
}
void fillDevice(void * /*device*/, unsigned char /*value*/, std::size_t /*bytes*/,
                CudaQueue & /*queue*/)
{
    fail();
}

void fillRandomBits(void * /*device*/, std::size_t /*bytes*/, std::uint64_t /*seed*/,
                    CudaQueue & /*queue*/)
{
    fail();
}
void fillRandomValues(void * /*device*/, std::size_t /*count*/, DType /*dtype*/, float /*scale*/,
                      std::uint64_t /*seed*/, CudaQueue & /*queue*/)
{
    fail();
}

DeviceTimer::DeviceTimer() { fail(); }
DeviceTimer::~DeviceTimer() = default;
void DeviceTimer::start(CudaQueue & /*queue*/) { fail(); }
double DeviceTimer::stop(CudaQueue & /*queue*/) { fail(); }
DeviceGraph::DeviceGraph(CudaQueue & /*queue*/, const std::function<void()> & /*enqueue*/)
{
    fail();
}
DeviceGraph::~DeviceGraph() = default;
void DeviceGraph::launch(CudaQueue & /*queue*/) const { fail(); }

} // namespace firesteel::kernels
