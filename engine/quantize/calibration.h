// SPDX-License-Identifier: MIT
//
// Runs a text through a model and keeps the Hessian of every linear layer's input.
#pragma once

#include "engine/api/error.h"
#include "engine/base/cancel_token.h"
#include "engine/model/model.h"
#include "engine/quantize/hessian.h"
#include "kernels/common/thread_pool.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace firesteel::engine {

// By module. Modules that read the same input (q, k and v; the gates of all experts) share one.
using Hessians = std::map<std::string, std::shared_ptr<const Hessian>, std::less<>>;

// windows: token ids, each window its own sequence. progress: the part of the tokens done. Errors:
// Cancelled.
Result<Hessians> calibrate(Model &model, const std::vector<std::vector<std::int32_t>> &windows,
                           kernels::ThreadPool &pool,
                           const std::function<void(double fraction)> &progress,
                           const CancelToken &cancel);

// What Hessians were made from: digests of the model and of the text.
struct HessianInputs
{
    std::uint64_t source = 0;
    std::uint64_t calibration = 0;
};

// As a file of their sums, for a later run. Errors: Io.
Result<void> saveHessians(const std::filesystem::path &file, const Hessians &hessians,
                          const HessianInputs &inputs);
// Errors: NotFound, Io; BadCheckpoint (not such a file); BadRequest (made from other inputs).
Result<Hessians> loadHessians(const std::filesystem::path &file, const HessianInputs &inputs);

} // namespace firesteel::engine
