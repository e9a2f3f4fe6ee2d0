// SPDX-License-Identifier: MIT
#include "kernels/common/cuda_queue.cuh"
#include "kernels/common/device_partition.cuh"

#include <cuda.h>

namespace firesteel::kernels {

namespace {

// The driver's library is not linked: a build must also start where there is none.
template <typename Function> Function *driverFunction(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found {};
    checkCuda(cudaGetDriverEntryPointByVersion(name, &function, 12080, cudaEnableDefault, &found),
              name);
    if (found != cudaDriverEntryPointSuccess)
        throw DeviceError(std::string("the driver has no ") + name, false);
    return reinterpret_cast<Function *>(function);
}

void check(CUresult status, const char *call)
{
    if (status != CUDA_SUCCESS)
        throw DeviceError(std::string(call) + ": driver error " + std::to_string(status), false);
}

} // namespace

DevicePartition openDevicePartition(int multiprocessors)
{
    checkCuda(cudaFree(nullptr), "cudaFree"); // makes the primary context
    CUdevResource all {};
    check(driverFunction<decltype(cuDeviceGetDevResource)>("cuDeviceGetDevResource")(
              0, &all, CU_DEV_RESOURCE_TYPE_SM),
          "cuDeviceGetDevResource");
    CUdevResource part {};
    unsigned parts = 1;
    check(driverFunction<decltype(cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount")(
              &part, &parts, &all, nullptr, 0, static_cast<unsigned>(multiprocessors)),
          "cuDevSmResourceSplitByCount");
    CUdevResourceDesc description = nullptr;
    check(driverFunction<decltype(cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc")(
              &description, &part, 1),
          "cuDevResourceGenerateDesc");
    CUgreenCtx context = nullptr;
    check(driverFunction<decltype(cuGreenCtxCreate)>("cuGreenCtxCreate")(
              &context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
          "cuGreenCtxCreate");
    CUstream stream = nullptr;
    check(driverFunction<decltype(cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate")(
              &stream, context, CU_STREAM_NON_BLOCKING, 0),
          "cuGreenCtxStreamCreate");
    return { .context = context,
             .stream = stream,
             .multiprocessors = static_cast<int>(part.sm.smCount) };
}

void closeDevicePartition(void *context)
{
    if (context != nullptr)
        driverFunction<decltype(cuGreenCtxDestroy)>("cuGreenCtxDestroy")(
            static_cast<CUgreenCtx>(context));
}

} // namespace firesteel::kernels
