// SPDX-License-Identifier: MIT
#include "kernels/exl3/exl3_viterbi.h"

#include "kernels/exl3/exl3_codec.h"
#include "kernels/exl3/exl3_viterbi_backends.h"

#include <stdexcept>

namespace firesteel::kernels {

std::size_t exl3ViterbiScratchBytes(std::int64_t tiles, int rate, Stream &stream)
{
    if (stream.backend() == Backend::Cpu)
        return 0;
    return cuda::exl3ViterbiScratchBytes(tiles, rate, stream.cuda());
}

void launchExl3Viterbi(std::span<std::uint16_t> states, std::span<const float> tiles, int rate,
                       Exl3Codebook codebook, const Exl3Scratch &scratch, Stream &stream)
{
    if (rate < 1 || rate > kExl3MaxRate || tiles.size() % kExl3TileSize != 0
        || states.size() != tiles.size())
        throw std::logic_error("launchExl3Viterbi: the sizes or the rate are out of range");
    if (stream.backend() == Backend::Cpu)
        reference::exl3Viterbi(states, tiles, rate, codebook, stream.pool());
    else
        cuda::exl3Viterbi(states, tiles, rate, codebook, scratch, stream.cuda());
}

} // namespace firesteel::kernels
