// SPDX-License-Identifier: MIT
//
// The chunk form of KDA (kda_chunk_reference.cpp has the formulas) in two launches: kda_chunk.cu
// finds what of a chunk does not need the state, all chunks and heads at once; kda_prefill.cu takes
// a head's chunks in order. Between them lie these parts, per chunk and head.
#pragma once

#include "kernels/kda/kda_device.cuh"

namespace firesteel::kernels::cuda {

inline constexpr int kChunkRows = static_cast<int>(kKdaChunk);
inline constexpr int kRowQuads = kChunkRows / 4;

// Chunks between two launches of the same kernel: their parts are read from L2, where a GB10 has 24
// MB, and no launch is long.
inline constexpr int kSliceChunks = 2;

// Offsets in floats; all 16-byte aligned. T = (I + A)^-1, G summed inside the chunk.
struct ChunkParts
{
    // [32 quads of rows][128 keys][4 rows]: 16 quads of -T (beta K exp(G)), 16 of Q exp(G).
    static constexpr int kStateSide = 0;
    static constexpr int kRaised
        = kStateSide + 2 * kChunkRows * kHeadDim; // K exp(G_last - G) [64][128]
    static constexpr int kScores = kRaised + kChunkRows * kHeadDim; // P [16 quads of i][64 j][4 i]
    static constexpr int kValues = kScores + kChunkRows * kChunkRows; // T (beta V) [64][128]
    static constexpr int kDecay = kValues + kChunkRows * kHeadDim; // exp(G_last) [128]
    static constexpr int kFloats = kDecay + kHeadDim;
};

// Up to kSliceChunks chunks of one sequence.
struct PrefillSlice
{
    const float *u;
    const float *g;
    const float *beta;
    const StepSequence *sequence;
    float *parts; // [chunks][heads][ChunkParts::kFloats]
    int heads;
    int firstRow; // in the sequence
};

// Rows of the slice's chunk; not positive behind the sequence's end.
__device__ __forceinline__ int rowsOfChunk(const PrefillSlice &x, const StepSequence &sequence,
                                           int chunk)
{
    return min(kChunkRows, sequence.rows - x.firstRow - chunk * kChunkRows);
}

__device__ __forceinline__ float *partsOf(const PrefillSlice &x, int chunk, int head)
{
    return x.parts + (std::int64_t { chunk } * x.heads + head) * ChunkParts::kFloats;
}

void launchChunkParts(const PrefillSlice &slice, int chunks, CudaQueue &queue);

} // namespace firesteel::kernels::cuda
