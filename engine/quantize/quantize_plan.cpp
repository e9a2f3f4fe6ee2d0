// SPDX-License-Identifier: MIT
#include "engine/quantize/quantize_plan.h"

#include "engine/base/printable.h"
#include "engine/quantize/digest.h"
#include "engine/quantize/tensor_values.h"
#include "kernels/exl3/exl3.h"

#include <format>
#include <limits>
#include <string_view>

namespace firesteel::engine {

namespace {

constexpr std::string_view kWeight = ".weight";

std::string moduleOf(std::string_view tensor)
{
    if (tensor.ends_with(kWeight))
        tensor.remove_suffix(kWeight.size());
    return std::string(tensor);
}

bool isMatrix(const TensorEntry &entry)
{
    return entry.shape.size() == 2 && isPlainType(entry.type);
}

bool hasExl3Size(const TensorEntry &entry)
{
    for (const std::int64_t size : entry.shape)
        if (size <= 0 || size % kernels::kExl3Block != 0
            || size > std::numeric_limits<std::int32_t>::max())
            return false;
    return true;
}

} // namespace

Result<QuantizePlan> planQuantization(const TensorFolder &folder, const RateTable &rates,
                                      const std::optional<std::set<std::string>> &linears)
{
    QuantizePlan plan;
    Digest digest;
    std::vector<std::string> modules;
    std::vector<std::string> oddSizes;
    for (const auto &[name, tensor] : folder.tensors()) {
        const TensorEntry *entry = tensor.entry;
        if (name.ends_with(".trellis"))
            return fail(ErrorCode::BadRequest,
                        std::format("{}: is EXL3 already (it has \"{}\")",
                                    printable(folder.directory().string()), printable(name)));
        std::string module = moduleOf(name);
        const bool isCandidate = isMatrix(*entry) && (!linears || linears->contains(module));
        if (isCandidate)
            modules.push_back(module);
        const int rate = isCandidate ? rates.rateOf(module) : 0;
        if (rate == 0 || !hasExl3Size(*entry)) {
            if (rate != 0)
                oddSizes.push_back(module);
            plan.copies.push_back({ name, entry });
            continue;
        }
        digest.add(module);
        digest.add(std::to_string(rate));
        plan.matrices.push_back({ .module = std::move(module),
                                  .entry = entry,
                                  .in = static_cast<std::int32_t>(entry->shape[1]),
                                  .out = static_cast<std::int32_t>(entry->shape[0]),
                                  .rate = rate });
    }
    if (plan.matrices.empty())
        return fail(ErrorCode::BadRequest, "--rates gives no matrix of the model a rate");
    if (!oddSizes.empty())
        plan.notes.push_back(std::format("{} matrices stay plain, as their sizes are not multiples "
                                         "of {}: {}{}",
                                         oddSizes.size(), kernels::kExl3Block,
                                         printable(oddSizes.front()),
                                         oddSizes.size() > 1 ? " and others" : ""));
    for (const std::string &pattern : rates.unusedPatterns(modules))
        plan.notes.push_back(
            std::format("the line \"{}\" of --rates decides for no matrix", printable(pattern)));
    plan.rateDigest = digest.value();
    return plan;
}

} // namespace firesteel::engine
