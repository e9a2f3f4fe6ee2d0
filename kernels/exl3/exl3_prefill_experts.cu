// SPDX-License-Identifier: MIT
//
// What      the routed experts of the prefill class (launchExl3Experts)
// Layout    x, y float32 [rows, hidden]; scratch: rows sorted by expert, in them the inputs rotated
//           for gate and for up (F16 [assignments, hidden] each, later the float32 outputs of
//           down) and the activations rotated for down (F16 [assignments, width])
// Plan      route (exl3_prefill_route.cu); rotate every row for each of its experts; gate and up,
//           a block per segment of up to 128 rows and 128 columns: one group of warps each, then
//           SwiGLU and the rotation for down on the results; down, a group per tile; sum the
//           experts of a row in the router's order. The columns of a segment run at the same
//           time, so that its rows come from L2; segments are ordered by size, so that blocks that
//           take turns get equal shares.
// Flops     6 * hidden * width per assignment; weights are decoded once per segment
// Traffic   per assignment, with hidden h and width w: 4h written and read as rotated inputs, 2w
//           written and read as activations, 4h written and read as outputs; a row's input is read
//           once; the trellises once per segment
// Limits    as exl3_prefill_linear.cu; gate, up and down may have different rates
// Measured  H200 limited to 48 multiprocessors, GLM-5.3-Flash at rate 2: 8192 rows 31.3 ms, 105
//           TFLOP/s, 45 % of what mma.sync reaches there; 2048 rows 11.3 ms (docs/kernels.md)
#include "kernels/common/cuda_queue.cuh"
#include "kernels/exl3/exl3_backends.h"
#include "kernels/exl3/exl3_prefill.h"
#include "kernels/exl3/exl3_prefill_epilogue.cuh"
#include "kernels/exl3/exl3_prefill_route.cuh"

namespace firesteel::kernels::cuda {

namespace {

constexpr int kRotateThreads = 128;
constexpr int kCombineThreads = 256;

struct ExpertsTask
{
    const Exl3Expert *table;
    Routing routing;
    Panels gateInput; // [assignments, hidden], sorted
    Panels upInput;
    Panels activation; // [assignments, width], sorted
    float *output; // [assignments, hidden], sorted; where gateInput and upInput were
    int hidden;
    int width;
    int expertsPerToken;
    float limit;
};

// One block per row.
__global__ void __launch_bounds__(kRotateThreads)
    exl3_prefill_gather_kernel(const __grid_constant__ ExpertsTask task, const float *x,
                               const std::int32_t *experts, std::int64_t firstRow)
{
    const std::int64_t row = firstRow + blockIdx.x;
    const int blocks = task.hidden / kExl3Block;
    // Whole warps stay for the shuffles; lanes past the last block repeat it and store nothing.
    for (int first = static_cast<int>(threadIdx.x) / 32 * 4; first < blocks;
         first += kRotateThreads / 8) {
        const int mine = first + static_cast<int>(threadIdx.x) % 32 / 8;
        const int column = min(mine, blocks - 1) * kExl3Block;
        RowPart input;
        loadRowPart(input, x + row * task.hidden + column);
        for (int i = 0; i < task.expertsPerToken; ++i) {
            const std::int64_t assignment = row * task.expertsPerToken + i;
            const Exl3Expert &expert = task.table[experts[assignment]];
            const std::int32_t place = task.routing.place[assignment];
#pragma unroll
            for (int up = 0; up < 2; ++up) {
                RowPart values;
#pragma unroll
                for (int h = 0; h < 2; ++h)
#pragma unroll
                    for (int c = 0; c < 8; ++c)
                        values[h][c] = input[h][c];
                rotateAndStore(up != 0 ? task.upInput : task.gateInput, place, column, values,
                               (up != 0 ? expert.up.suh : expert.gate.suh) + column, mine < blocks);
            }
        }
    }
}

// Tiles of a range of segments; the columns of a segment are neighbours.
struct SegmentRange
{
    std::int32_t first;
    std::int32_t end; // may lie past the last segment

    __device__ int count(const Routing &routing) const
    {
        return max(0, min(end, *routing.segmentCount) - first);
    }
};

// Gate on one side, up on the other.
struct GateUpWork
{
    ExpertsTask task;
    SegmentRange range;

    __device__ int blocks() const { return task.width / kTileColumns; }
    __device__ Segment segment(int item) const
    {
        return task.routing.segments[range.first + item / blocks()];
    }
    // Both sides have the same.
    __device__ ItemRange items(int /*side*/) const
    {
        return { static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                 range.count(task.routing) * blocks() };
    }
    __device__ Tile tile(int item, int side) const
    {
        const Segment s = segment(item);
        const Exl3Matrix &m = side == 0 ? task.table[s.expert].gate : task.table[s.expert].up;
        return { side == 0 ? task.gateInput : task.upInput, s.first, s.rows,
                 m.trellis + static_cast<std::size_t>(item % blocks()) * kTileColumns * m.rate };
    }
};

__device__ __forceinline__ float activate(float gate, float up, float limit)
{
    const float g = fminf(gate, limit);
    return g / (1.0F + __expf(-g)) * fminf(fmaxf(up, -limit), limit);
}

__global__ void __launch_bounds__(kBlockThreads, 1)
    exl3_prefill_gate_up_kernel(const __grid_constant__ GateUpWork work,
                                const __grid_constant__ Geometry geometry)
{
    extern __shared__ __align__(128) unsigned char shared[];
    const std::uint32_t base = sharedAddress(shared);
    initBarriers(base);
    if (threadIdx.x >= 32 * kMultiplyWarps)
        return copySteps(work, geometry, base);
    takeRegisters();
    const int side = sideOfWarp();
    unsigned lap = 0;
    const ItemRange items = work.items(side);
    for (int item = items.first; item < items.end; item += items.stride) {
        const Tile tile = work.tile(item, side);
        Accumulators acc;
        multiplyTile(acc, geometry, tile, shared, lap);
        lap += lapsOfTile(geometry);
        const Exl3Expert &expert = work.task.table[work.segment(item).expert];
        const int column = item % work.blocks() * kTileColumns;
        const auto biasOf
            = [&](const Exl3Matrix &m) { return m.bias == nullptr ? nullptr : m.bias + column; };
        forChunks(
            sideResults(shared, side), acc, tile.rows, [] { syncSides(); },
            [&](int firstRow) {
                const int r = static_cast<int>(threadIdx.x) / 8;
                RowPart gate;
                loadChunkRow(gate, sideResults(shared, 0), r);
                finishOutput(gate, expert.gate.svh + column, biasOf(expert.gate));
                RowPart up;
                loadChunkRow(up, sideResults(shared, 1), r);
                finishOutput(up, expert.up.svh + column, biasOf(expert.up));
#pragma unroll
                for (int h = 0; h < 2; ++h)
#pragma unroll
                    for (int c = 0; c < 8; ++c)
                        gate[h][c] = activate(gate[h][c], up[h][c], work.task.limit);
                rotateAndStore(work.task.activation, tile.firstRow + firstRow + r, column, gate,
                               expert.down.suh + column, firstRow + r < tile.rows);
            });
        // Nobody may still read the other side's results when its slots are filled again.
        syncSides();
        endTile(base);
    }
}

struct DownWork
{
    ExpertsTask task;
    SegmentRange range;

    __device__ int blocks() const { return task.hidden / kTileColumns; }
    __device__ Segment segment(int item) const
    {
        return task.routing.segments[range.first + item / blocks()];
    }
    __device__ ItemRange items(int side) const
    {
        return itemsOfSide(side, range.count(task.routing) * blocks());
    }
    __device__ Tile tile(int item, int /*side*/) const
    {
        const Segment s = segment(item);
        const Exl3Matrix &m = task.table[s.expert].down;
        return { task.activation, s.first, s.rows,
                 m.trellis + static_cast<std::size_t>(item % blocks()) * kTileColumns * m.rate };
    }
    __device__ Output output(int item) const
    {
        const Segment s = segment(item);
        const Exl3Matrix &m = task.table[s.expert].down;
        const int column = item % blocks() * kTileColumns;
        return { task.output + static_cast<std::size_t>(s.first) * task.hidden + column,
                 task.hidden, m.svh + column, m.bias == nullptr ? nullptr : m.bias + column };
    }
};

__global__ void __launch_bounds__(kBlockThreads, 1)
    exl3_prefill_down_kernel(const __grid_constant__ DownWork work,
                             const __grid_constant__ Geometry geometry)
{
    extern __shared__ __align__(128) unsigned char shared[];
    multiplyItems(work, geometry, shared);
}

// One block per row.
__global__ void __launch_bounds__(kCombineThreads)
    exl3_prefill_combine_kernel(const __grid_constant__ ExpertsTask task, float *y,
                                const float *weights, std::int64_t firstRow)
{
    const std::int64_t row = firstRow + blockIdx.x;
    for (int column = static_cast<int>(threadIdx.x) * 4; column < task.hidden;
         column += kCombineThreads * 4) {
        float4 sum = make_float4(0, 0, 0, 0);
        for (int i = 0; i < task.expertsPerToken; ++i) {
            const std::int64_t assignment = row * task.expertsPerToken + i;
            const float weight = weights[assignment];
            const float4 value = *reinterpret_cast<const float4 *>(
                task.output + static_cast<std::size_t>(task.routing.place[assignment]) * task.hidden
                + column);
            sum.x = fmaf(weight, value.x, sum.x);
            sum.y = fmaf(weight, value.y, sum.y);
            sum.z = fmaf(weight, value.z, sum.z);
            sum.w = fmaf(weight, value.w, sum.w);
        }
        *reinterpret_cast<float4 *>(y + row * task.hidden + column) = sum;
    }
}

ExpertsTask taskIn(ScratchWalk &walk, const Exl3MoeShape &shape, std::int64_t rows)
{
    const std::int64_t assignments = rows * shape.expertsPerToken;
    ExpertsTask task {};
    task.routing.place = walk.take<std::int32_t>(assignments);
    task.routing.segments = walk.take<Segment>(maxSegments(assignments, shape.experts));
    task.routing.segmentCount = walk.take<std::int32_t>(1);
    task.routing.counts = walk.take<std::int32_t>(routingChunks(assignments) * shape.experts);
    auto *inputs = walk.take<std::uint16_t>(2 * assignments * shape.hidden);
    task.gateInput = { inputs, assignments };
    task.upInput = { inputs + assignments * shape.hidden, assignments };
    task.output = reinterpret_cast<float *>(inputs);
    task.activation = { walk.take<std::uint16_t>(assignments * shape.width), assignments };
    task.hidden = static_cast<int>(shape.hidden);
    task.width = static_cast<int>(shape.width);
    task.expertsPerToken = static_cast<int>(shape.expertsPerToken);
    task.limit = shape.swigluLimit;
    return task;
}

} // namespace

//------------------------------------------------------------------------------------------------

std::size_t exl3PrefillExpertsScratchBytes(const Exl3MoeShape &shape, std::int64_t rows)
{
    ScratchWalk walk;
    taskIn(walk, shape, rows);
    return walk.used();
}

void exl3PrefillExperts(std::span<float> y, std::span<const float> x,
                        std::span<const std::int32_t> experts, std::span<const float> weights,
                        std::span<const Exl3Expert> table, const Exl3MoeShape &shape,
                        std::int64_t rows, const Exl3Scratch &scratch, CudaQueue &queue)
{
    ScratchWalk walk(scratch);
    ExpertsTask task = taskIn(walk, shape, rows);
    task.table = table.data();
    const std::int64_t assignments = rows * shape.expertsPerToken;
    routeToExperts(task.routing, experts.data(), assignments, shape.experts, queue);

    const std::int64_t rowBytes
        = (4 * shape.expertsPerToken + 4) * shape.hidden; // of gather, and of combine
    const std::int64_t rowsAtOnce = itemsPerLaunch(kLaunchBytes, rowBytes);
    for (std::int64_t first = 0; first < rows; first += rowsAtOnce) {
        exl3_prefill_gather_kernel<<<static_cast<unsigned>(std::min(rowsAtOnce, rows - first)),
                                     kRotateThreads, 0, queue.stream()>>>(task, x.data(),
                                                                          experts.data(), first);
        checkLaunch("exl3_prefill_gather_kernel");
    }

    // The grid is fixed before the number of segments is known; blocks without work end at once.
    const std::int64_t segments = maxSegments(assignments, shape.experts);
    const std::int64_t tileFlops = 2 * kTileRows * shape.hidden * shape.width;
    const auto launchSegments = [&](auto work, auto *kernel, const Geometry &geometry,
                                    std::int64_t flops, std::int64_t items, const char *name) {
        checkCuda(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
            "cudaFuncSetAttribute");
        const std::int64_t atOnce
            = itemsPerLaunch(kLaunchFlopsOfMultiprocessor * queue.multiprocessors(), flops);
        for (std::int64_t first = 0; first < segments; first += atOnce) {
            const std::int64_t end = std::min(first + atOnce, segments);
            work.range = { static_cast<std::int32_t>(first), static_cast<std::int32_t>(end) };
            kernel<<<static_cast<unsigned>(
                         std::min<std::int64_t>(queue.multiprocessors(), (end - first) * items)),
                     kBlockThreads, kSharedBytes, queue.stream()>>>(work, geometry);
            checkLaunch(name);
        }
    };
    launchSegments(GateUpWork { task, {} }, &exl3_prefill_gate_up_kernel,
                   { static_cast<std::int32_t>(shape.hidden),
                     static_cast<std::int32_t>(shape.width / kExl3Tile),
                     { shape.gateRate, shape.upRate },
                     shape.codebook },
                   2 * tileFlops, shape.width / kTileColumns, "exl3_prefill_gate_up_kernel");
    launchSegments(DownWork { task, {} }, &exl3_prefill_down_kernel,
                   { static_cast<std::int32_t>(shape.width),
                     static_cast<std::int32_t>(shape.hidden / kExl3Tile),
                     { shape.downRate, shape.downRate },
                     shape.codebook },
                   tileFlops, (shape.hidden / kTileColumns + kSides - 1) / kSides,
                   "exl3_prefill_down_kernel");

    for (std::int64_t first = 0; first < rows; first += rowsAtOnce) {
        exl3_prefill_combine_kernel<<<static_cast<unsigned>(std::min(rowsAtOnce, rows - first)),
                                      kCombineThreads, 0, queue.stream()>>>(task, y.data(),
                                                                            weights.data(), first);
        checkLaunch("exl3_prefill_combine_kernel");
    }
}

} // namespace firesteel::kernels::cuda
