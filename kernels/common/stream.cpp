// SPDX-License-Identifier: MIT
#include "kernels/common/stream.h"

#include "kernels/common/buffer.h"

namespace firesteel::kernels {

void copyWithin(void *to, const void *from, std::size_t bytes, Stream &stream)
{
    if (bytes == 0)
        return;
    if (stream.backend() == Backend::Cuda)
        copyOnDevice(to, from, bytes, stream.cuda());
    else
        std::memcpy(to, from, bytes);
}

} // namespace firesteel::kernels
